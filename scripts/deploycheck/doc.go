// Package deploycheck holds the recipes in deploy/ to the schemas of those who read them. It is a module of its own, because
// the types of Kubernetes and KEDA are many times the size of the site.
package deploycheck
