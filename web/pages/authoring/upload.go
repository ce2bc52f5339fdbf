package authoring

import (
	"archive/zip"
	"bytes"
	"fmt"
	"mime/multipart"
	"path/filepath"

	"github.com/gofiber/fiber/v2"

	"warpboard/tasks"
	"warpboard/tasks/problems"
	"warpboard/web/site"
)

// readZip reads what was uploaded: a zip, a file in the legacy format, or the files of one task as they are.
func (p *Authoring) readZip(c *fiber.Ctx) (upload, error) {
	form, err := c.MultipartForm()
	if err != nil || len(form.File["zip"]) == 0 {
		return upload{}, site.Invalid("zip", "Choose a zip, or the files of a task, to upload.")
	}
	if list := form.File["zip"]; len(list) > 1 {
		return p.packFiles(list)
	}
	header := form.File["zip"][0]
	data, err := site.ReadUpload(header, int64(p.bundleLimit))
	if err == nil && len(data) > p.bundleLimit {
		err = site.Invalid("zip", "%s is larger than %d MiB.", header.Filename, p.bundleLimit>>20)
	}
	return upload{name: header.Filename, data: data}, err
}

// packFiles makes a zip of the files of one task. A problem of KernelBot names files of the folder above, which all its
// problems share ("../utils.py"): a browser sends no folders, so each file but task.yml lies in both places.
func (p *Authoring) packFiles(list []*multipart.FileHeader) (upload, error) {
	const folder = "task/"
	var buf bytes.Buffer
	z, total, described := zip.NewWriter(&buf), 0, false
	for _, header := range list {
		data, err := site.ReadUpload(header, int64(p.bundleLimit))
		if err != nil {
			return upload{}, err
		}
		if total += len(data); total > p.bundleLimit {
			return upload{}, site.Invalid("zip", "These files are larger than %d MiB together.", p.bundleLimit>>20)
		}
		name := filepath.Base(header.Filename)
		places := []string{folder + name, name}
		if name == tasks.TaskFile || name == "task.yaml" {
			places, described = places[:1], true
		}
		for _, place := range places {
			if err := writeFile(z, place, data); err != nil {
				return upload{}, err
			}
		}
	}
	if !described {
		return upload{}, problems.Problem{Message: fmt.Sprintf("there is no %s among these %d files. It names the others: choose it, too", tasks.TaskFile, len(list))}
	}
	if err := z.Close(); err != nil {
		return upload{}, fmt.Errorf("packing uploaded files: %w", err)
	}
	return upload{name: "task.zip", data: buf.Bytes()}, nil
}

func writeFile(z *zip.Writer, name string, data []byte) error {
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write(data)
	}
	if err != nil {
		return fmt.Errorf("packing the uploaded file %s: %w", name, err)
	}
	return nil
}
