package device

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlySettingsOfLinksReachPrograms(t *testing.T) {
	environ := []string{"NCCL_NVLS_ENABLE=0", "PATH=/bin", "TORCH_SYMM_MEM_DISABLE_MULTICAST=1", "WARPBOARD_NATS_TOKEN=secret", "NCCL_ALGO=a=b", "MY_NCCL_ALGO=1", "NCCL_SOCKET_IFNAME=eth0", "NCCL_TOPO_FILE=/x", "TORCH_HOME=/x"}
	want := map[string]string{"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "NCCL_ALGO": "a=b"}
	if diff := cmp.Diff(want, linkSettings(environ)); diff != "" {
		t.Error(diff)
	}
}
