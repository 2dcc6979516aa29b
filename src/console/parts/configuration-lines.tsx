/** Lines of the configuration that charge somebody for a resource, to copy. */
import { csvCell } from "../../common/csv-cell.js";
import type { Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import type { Place } from "../state/location.js";
import { periodOf, periodParameters } from "../state/period.js";
import { en } from "../text/en.js";
import { Copied } from "./copied.js";

const text = en.assign;

interface LinesProps {
  readonly place: Place;
  readonly tenant: string;
  readonly resources: readonly string[];
}

export function ConfigurationLines({ place, tenant, resources }: LinesProps) {
  const query = {
    ...periodParameters(periodOf(place)),
    page_size: 100,
    resource_id: resources.slice(0, 20),
  };
  const { value } = useApi("/api/v1/tenants/{tenant_name}/worklist", {
    path: { tenant_name: tenant },
    query,
  });
  const items = value?.items ?? [];
  const rules = [...new Set(items.map(({ rule }) => rule))].filter(
    (rule) => rule !== "" && !rule.includes("/"),
  );
  const hints = new Map(
    items.flatMap(({ lacks }) => lacks.map((lack) => [JSON.stringify(lack), lack] as const)),
  );
  const named = resources.map((resource) => JSON.stringify(resource)).join(", ");
  const rule = `allocation:
  rules:
    - name: assigned-by-hand
      where: { resource_id: [${named}] }
      split: [{ by: fixed, shares: { ${text.whoPays}: 1 } }]`;
  return (
    <details>
      <summary>{text.configuration}</summary>
      {rules.map((name) => (
        <p key={name}>{text.ruleHint(name)}</p>
      ))}
      {[...hints].map(([key, lack]) => (
        <Hint key={key} lack={lack} />
      ))}
      <p>{text.configurationHint}</p>
      <Copied lines={rule} />
    </details>
  );
}

type Lack = Schemas["WorklistItem"]["lacks"][number];

/** Says how the bill or the map can name the identity that a source did not find. */
function Hint({ lack }: { readonly lack: Lack }) {
  const { tag, map, reason, value, similar_tag: similar, identity } = lack;
  if (reason === "not_in_map" && map !== undefined)
    return (
      <>
        <p>{text.mapHint(map)}</p>
        <Copied lines={`${csvCell(value)},${text.whoPays}`} />
      </>
    );
  if (reason === "now_known" && identity !== undefined) return <p>{text.knownNow(identity)}</p>;
  if (tag === undefined) return null;
  return <p>{similar === undefined ? text.tagHint(tag) : text.similarTagHint(tag, similar)}</p>;
}
