package web

import (
	"crypto/sha256"
	"fmt"
	"html"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/python"
	"warpboard/web/site"
)

// pythonIndexPath is the path of the package index for pip. simpleIndexContentType is its content type for newer
// versions of pip (PEP 691).
const (
	pythonIndexPath        = "/clients/python/simple/"
	simpleIndexContentType = "application/vnd.pypi.simple.v1+json"
)

// pythonClient serves the Python client as a package index of one project (PEP 503 and 691).
type pythonClient struct {
	wheel func() (*python.Wheel, error)
}

func newPythonClient() pythonClient { return pythonClient{sync.OnceValues(python.Build)} }

// routes adds the paths of the package index. Its links are relative, so that they also work behind a proxy that adds a
// path.
func (p pythonClient) routes(g routeGroup) {
	g.get(pythonIndexPath, p.projects)
	g.get(pythonIndexPath+":project", p.project)
	g.get("/clients/python/:file", p.serveWheel)
}

// projects lists the index's only project, the client.
func (p pythonClient) projects(c *fiber.Ctx) error {
	w, err := p.wheel()
	if err != nil {
		return err
	}
	return respondIndexPage(c, fiber.Map{"projects": []fiber.Map{{"name": w.ProjectName}}}, w.ProjectName+"/", w.ProjectName, "")
}

// project lists the client's only file, the wheel that this site builds.
func (p pythonClient) project(c *fiber.Ctx) error {
	w, err := p.wheel()
	if err != nil {
		return err
	}
	if c.Params("project") != w.ProjectName {
		return site.NotFound(c)
	}
	sum, link := fmt.Sprintf("%x", sha256.Sum256(w.Content)), "../../"+w.FileName
	return respondIndexPage(c, fiber.Map{"name": w.ProjectName, "files": []fiber.Map{{"filename": w.FileName, "url": link,
		"hashes": fiber.Map{"sha256": sum}, "requires-python": w.RequiresPython, "size": len(w.Content)}}},
		link+"#sha256="+sum, w.FileName, fmt.Sprintf(" data-requires-python=%q", html.EscapeString(w.RequiresPython)))
}

// serveWheel responds with the wheel.
func (p pythonClient) serveWheel(c *fiber.Ctx) error {
	w, err := p.wheel()
	if err != nil {
		return err
	}
	if c.Params("file") != w.FileName {
		return site.NotFound(c)
	}
	c.Set(fiber.HeaderCacheControl, "no-cache")
	c.Set(fiber.HeaderContentType, "application/octet-stream")
	return c.Send(w.Content)
}

// respondIndexPage responds with one page of the package index, as JSON or as HTML with one link, depending on the
// Accept header.
func respondIndexPage(c *fiber.Ctx, answer fiber.Map, href, text, attribute string) error {
	if !strings.HasSuffix(c.Path(), "/") {
		return c.Redirect(c.Path()+"/", fiber.StatusMovedPermanently)
	}
	c.Set(fiber.HeaderCacheControl, "no-cache")
	c.Vary(fiber.HeaderAccept)
	if c.Accepts(fiber.MIMETextHTML, simpleIndexContentType) == simpleIndexContentType {
		answer["meta"] = fiber.Map{"api-version": "1.0"}
		return c.JSON(answer, simpleIndexContentType)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.SendString(fmt.Sprintf("<!DOCTYPE html>\n<html lang=\"en\"><head><meta name=\"pypi:repository-version\" content=\"1.0\"><title>%s</title></head>"+
		"<body><a href=%q%s>%s</a></body></html>\n", html.EscapeString(text), html.EscapeString(href), attribute, html.EscapeString(text)))
}
