// Package deploycheck checks the recipes in deploy/ against the schemas of the programs that read them. It is a
// separate module, because the types of Kubernetes and KEDA are many times the size of the site.
package deploycheck
