package authoring

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
)

// starters returns the example tasks that an author can begin with, one for each way of writing a task.
func starters() []views.TaskStarter {
	return []views.TaskStarter{
		{Name: "vectoradd_cpp", Label: "C++", Lang: tasks.LangCPP},
		{Name: "vectoradd_cuda", Label: "CUDA C++", Lang: tasks.LangCUDA},
		{Name: "vectoradd_torch", Label: "Python on a GPU", Lang: tasks.LangPython},
		{Name: "softmax_numpy", Label: "Python on a CPU", Lang: tasks.LangPython},
		{Name: "allreduce_torch", Label: "Several GPUs", Lang: tasks.LangPython},
	}
}

// starterFiles returns the files of a starter in reading order: task.yml first, then the reference. It omits solutions
// that task.yml does not list.
func (p *Authoring) starterFiles(starter views.TaskStarter) ([]views.SourceFile, error) {
	folder, err := tasks.ExampleFolder(starter.Name)
	if err != nil {
		return nil, err
	}
	settings, err := fs.ReadFile(folder, tasks.TaskFile)
	if err != nil {
		return nil, fmt.Errorf("reading the starter %s: %w", starter.Name, err)
	}
	var files []views.SourceFile
	code := p.highlighter.NewSourceLimiter()
	err = fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Dir(name) != "." && !bytes.Contains(settings, []byte(name)) {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		files = append(files, code.ColorFile(name, name+"-", text))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the starter %s: %w", starter.Name, err)
	}
	slices.SortStableFunc(files, func(a, b views.SourceFile) int { return readingOrder(a.Name) - readingOrder(b.Name) })
	return files, nil
}

// readingOrder returns the position of a file in the order in which authors read a task.
func readingOrder(name string) int {
	order := []string{tasks.TaskFile, "task", "reference", "template"}
	at := slices.IndexFunc(order, func(begin string) bool {
		return name == begin || strings.HasPrefix(name, begin+".") && name != tasks.TaskFile
	})
	if at < 0 {
		return len(order) // all other files, such as solutions, are last
	}
	return at
}

// FormatPage explains the task format.
func (p *Authoring) FormatPage(c *fiber.Ctx) error {
	page := views.TaskDocsPage{Page: p.site.Page(c, "Task format", "docs"), Starters: starters(),
		Keys: tasks.TaskFileKeys()}
	page.Starter = page.Starters[0]
	if i := starterIndex(c.Query("starter")); i >= 0 {
		page.Starter = page.Starters[i]
	}
	page.Parts = tasks.HarnessDeclarations(page.Starter.Lang)
	var err error
	if page.Files, err = p.starterFiles(page.Starter); err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.TaskDocs(page))
}

func starterIndex(name string) int {
	return slices.IndexFunc(starters(), func(s views.TaskStarter) bool { return s.Name == name })
}

// isStarterText reports whether a task's description is the unchanged description of a starter.
func isStarterText(def tasks.Definition) (bool, error) {
	for _, starter := range starters() {
		if starter.Lang != def.Lang {
			continue
		}
		folder, err := tasks.ExampleFolder(starter.Name)
		if err != nil {
			return false, err
		}
		text, err := fs.ReadFile(folder, tasks.TaskFile)
		if err != nil {
			return false, fmt.Errorf("reading the starter %s: %w", starter.Name, err)
		}
		if tasks.TopLevelText(text, "description") == def.Description {
			return true, nil
		}
	}
	return false, nil
}

// Starter responds with a starter task and its solutions as a zip.
func (p *Authoring) Starter(c *fiber.Ctx) error {
	name, isZip := strings.CutSuffix(c.Params("starter"), ".zip")
	if !isZip || starterIndex(name) < 0 {
		return site.NotFound(c)
	}
	folder, err := tasks.ExampleFolder(name)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	if err := w.AddFS(folder); err != nil {
		return fmt.Errorf("packing the starter %s: %w", name, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("packing the starter %s: %w", name, err)
	}
	return site.SendAttachment(c, path.Base(name)+".zip", buf.Bytes())
}
