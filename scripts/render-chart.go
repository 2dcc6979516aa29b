// Renders the Helm chart into test/deploy/chart.yaml, which tests check against the schemas of Kubernetes. It uses
// text/template and sprig, as Helm does, because Debian has no Helm. `lookup`, `tpl`, `required` and `.Files` are
// missing; the chart does not use them.
//
//	apt-get install golang-go golang-github-masterminds-sprig-dev golang-gopkg-yaml.v3-dev
//	GO111MODULE=off GOPATH=/usr/share/gocode go run scripts/render-chart.go > test/deploy/chart.yaml
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

const chart = "deploy/helm/chargehouse"
const values = "test/deploy/chart-values.yaml"

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(file string) []byte {
	text, err := os.ReadFile(file)
	check(err)
	return text
}

func mapping(file string) map[string]interface{} {
	content := map[string]interface{}{}
	check(yaml.Unmarshal(read(file), &content))
	return content
}

// As Helm merges values: mappings by key, all else replaced.
func merge(into, from map[string]interface{}) map[string]interface{} {
	for key, value := range from {
		below, isMapping := value.(map[string]interface{})
		there, wasMapping := into[key].(map[string]interface{})
		if isMapping && wasMapping {
			into[key] = merge(there, below)
		} else {
			into[key] = value
		}
	}
	return into
}

func toYaml(value interface{}) (string, error) {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err := encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}

func main() {
	about := mapping(chart + "/Chart.yaml")
	context := map[string]interface{}{
		"Values":  merge(mapping(chart+"/values.yaml"), mapping(values)),
		"Release": map[string]interface{}{"Name": "costs", "Namespace": "default"},
		"Chart":   map[string]interface{}{"Name": about["name"], "AppVersion": about["appVersion"]},
	}
	files, err := filepath.Glob(chart + "/templates/*")
	check(err)
	all := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = toYaml
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	all.Funcs(functions)
	for _, file := range files {
		template.Must(all.New(filepath.Base(file)).Parse(string(read(file))))
	}

	sources := append(files, chart+"/Chart.yaml", chart+"/values.yaml", values)
	sort.Strings(sources)
	digest := sha256.New()
	for _, file := range sources {
		digest.Write(read(file))
	}
	fmt.Printf("# Made by scripts/render-chart.go. Sources: sha256 %x\n", digest.Sum(nil))
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "_") {
			continue
		}
		var text bytes.Buffer
		check(all.ExecuteTemplate(&text, filepath.Base(file), context))
		if strings.TrimSpace(text.String()) != "" {
			fmt.Printf("---\n%s\n", strings.TrimSpace(text.String()))
		}
	}
}
