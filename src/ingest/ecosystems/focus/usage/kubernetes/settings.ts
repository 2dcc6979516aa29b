/** Setting `usage.kubernetes` of a `focus` tenant: changes what the preset `kubernetes` expands to. */
import { type Static, Type } from "@sinclair/typebox";
import { parseNonNegativeDecimal } from "../../../../../config/reader/decimal.js";
import { choice, mapping, text } from "../../../../../config/reader/setting.js";
import { LABEL } from "../../../../metered/identity-source.js";
import { parseSelector } from "../../../../metered/metric-selector.js";

export const DEFAULT_GIB_PER_CORE = "7.5";

export const kubernetesSettings = mapping(
  {
    metric_selector: Type.Optional(
      text({
        description:
          "Label matchers that are added to every selector, for a Prometheus with several clusters.",
        expected: 'label matchers such as cluster="prod"',
        maxLength: 1000,
        parse: parseSelector,
      }),
    ),
    namespace_label: Type.Optional(
      text({
        ...LABEL,
        description:
          "The label of `kube_namespace_labels` with the identity, such as `label_team`. If left out, and for " +
          "namespaces without the label, the identity is the name of the namespace.",
      }),
    ),
    gib_per_core: text({
      description: "A CPU core weighs as much as this many GiB of memory.",
      expected: "a decimal above 0 with at most 6 decimals and 6 digits before the point",
      pattern: "^(?!0$)\\d{1,6}(\\.\\d{1,6})?$",
      decimal: true,
      parse: parseNonNegativeDecimal,
      default: DEFAULT_GIB_PER_CORE,
    }),
    idle: choice(["keep", "spread"], {
      description:
        "`keep`: what no container requests or uses is charged to the identity `idle`. `spread`: the containers of " +
        "the node share it.",
      default: "keep",
    }),
    aws_arn: Type.Optional(
      text({
        description:
          "For bills of AWS whose `ResourceId` is an ARN: its beginning. If left out, the ids of instances and volumes " +
          "are expected (`i-…`, `vol-…`).",
        expected: "the beginning of an ARN such as arn:aws:ec2:eu-west-1:123456789012",
        pattern: "^arn:aws[a-z-]{0,20}:ec2:[a-z0-9-]{1,40}:[0-9]{12}$",
      }),
    ),
  },
  { description: "Changes what `preset: kubernetes` expands to." },
);

export type KubernetesSettings = Static<typeof kubernetesSettings>;
