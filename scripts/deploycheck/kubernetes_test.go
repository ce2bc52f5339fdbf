// Package deploycheck checks the recipes in deploy/ against the schemas of the programs that read them. It is a
// separate module, because the types of Kubernetes and KEDA are many times the size of the site.
package deploycheck

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	yamlv3 "go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// kinds are the allowed kinds of objects in the recipes, each with the type that decodes it.
var kinds = map[string]func() any{
	"apps/v1 Deployment":            func() any { return &appsv1.Deployment{} },
	"v1 Service":                    func() any { return &corev1.Service{} },
	"keda.sh/v1alpha1 ScaledObject": func() any { return &v1alpha1.ScaledObject{} },
}

// TestKubernetesKnowsEveryKey requires that each recipe has only keys that the types have, with values of the right
// types.
func TestKubernetesKnowsEveryKey(t *testing.T) {
	files, err := filepath.Glob("../../deploy/kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := map[string]int{}
	for _, file := range files {
		for _, document := range documents(t, file) {
			var head struct{ APIVersion, Kind string }
			if err := yaml.Unmarshal(document, &head); err != nil {
				t.Fatal(err)
			}
			name := head.APIVersion + " " + head.Kind
			if kinds[name] == nil {
				t.Errorf("%s: %s is not known here", file, name)
				continue
			}
			seen[name]++
			if err := yaml.UnmarshalStrict(document, kinds[name]()); err != nil {
				t.Errorf("%s: %s: %v", file, name, err)
			}
		}
	}
	if len(seen) != len(kinds) {
		t.Errorf("only %v were found", seen)
	}
	if err := yaml.UnmarshalStrict([]byte("apiVersion: v1\nkind: Service\nspecs: {}\n"),
		&corev1.Service{}); err == nil {
		t.Error("an unknown key is taken")
	}
}

// documents returns the YAML documents of a file.
func documents(t *testing.T, file string) (list [][]byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := yamlv3.NewDecoder(bytes.NewReader(text))
	for {
		var node any
		if err := decoder.Decode(&node); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		document, err := yamlv3.Marshal(node)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, document)
	}
}
