// Command kubernetes builds manifests as `kubectl apply -k` does, decodes each as strictly as an
// API server with field validation, and prints the result: one JSON object per line. Arguments: the
// folder of a kustomization, and further manifests.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("give the folder of a kustomization")
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), args[0])
	if err != nil {
		return err
	}
	var manifests [][]byte
	for _, r := range built.Resources() {
		content, err := r.AsYAML()
		if err != nil {
			return err
		}
		manifests = append(manifests, content)
	}
	for _, file := range args[1:] {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		manifests = append(manifests, content)
	}
	var errs []error
	for _, m := range manifests {
		object, err := decode(m)
		if err == nil {
			err = json.NewEncoder(out).Encode(object)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// decode decodes a manifest to the type that it declares. Unknown members are errors.
func decode(manifest []byte) (any, error) {
	var kind struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(manifest, &kind); err != nil {
		return nil, err
	}
	types := map[string]any{
		"v1 Namespace":                           &corev1.Namespace{},
		"v1 Secret":                              &corev1.Secret{},
		"v1 Service":                             &corev1.Service{},
		"apps/v1 Deployment":                     &appsv1.Deployment{},
		"batch/v1 Job":                           &batchv1.Job{},
		"autoscaling/v2 HorizontalPodAutoscaler": &autoscalingv2.HorizontalPodAutoscaler{},
		"policy/v1 PodDisruptionBudget":          &policyv1.PodDisruptionBudget{},
		"networking.k8s.io/v1 NetworkPolicy":     &networkingv1.NetworkPolicy{},
		"networking.k8s.io/v1 Ingress":           &networkingv1.Ingress{},
	}
	name := kind.APIVersion + " " + kind.Kind
	object, ok := types[name]
	if !ok {
		return nil, fmt.Errorf("%s is unknown here", name)
	}
	if err := yaml.UnmarshalStrict(manifest, object); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return object, nil
}
