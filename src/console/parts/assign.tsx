/** Drawer that assigns resources to an identity. It is open while the address has `assign`, a resource each. */
import { useState } from "preact/hooks";
import { api, bodyOf } from "../api/client.js";
import { changed, type Place } from "../state/location.js";
import { viewPath } from "../state/paths.js";
import { periodOf } from "../state/period.js";
import { en } from "../text/en.js";
import { Assignments, useAssignmentsOf } from "./assignment-list.js";
import { ConfigurationLines } from "./configuration-lines.js";
import { Day, Field } from "./controls.js";
import { Copied } from "./copied.js";
import { DecisionForm } from "./decision-form.js";
import { Drawer } from "./drawer.js";
import { Link } from "./link.js";
import { RequireScope } from "./require-scope.js";

const text = en.assign;
const LONGEST_IDENTITY = 1000;
const ASSIGNED_SOURCE = `allocation:
  identity:
    - assigned: resource_id`;

interface AssignProps {
  readonly place: Place;
  readonly tenant: string;
}

export function AssignLink({ place, resource }: { readonly place: Place; readonly resource: string }) {
  return (
    <Link href={changed(place, { assign: resource })} aria-label={text.assignOf(resource)}>
      {text.assign}
    </Link>
  );
}

export function AssignDrawer({ place, tenant }: AssignProps) {
  const resources = [...new Set(place.query.getAll("assign"))];
  if (resources.length === 0) return null;
  return <ShownDrawer key={resources.join("\n")} place={place} tenant={tenant} resources={resources} />;
}

function ShownDrawer({ place, tenant, resources }: AssignProps & { readonly resources: readonly string[] }) {
  const data = useAssignmentsOf(tenant, resources);
  const title = text.title(resources.length);
  return (
    <Drawer place={place} parameter="assign" title={title}>
      <h2>{title}</h2>
      <ul class="assigned-resources">
        {resources.map((resource) => (
          <li key={resource}>
            <bdi>{resource}</bdi>
          </li>
        ))}
      </ul>
      {data.value?.are_read === false ? (
        <>
          <p>{text.notRead}</p>
          <Copied lines={ASSIGNED_SOURCE} />
        </>
      ) : (
        <RequireScope scope="assign">
          <AssignForm place={place} tenant={tenant} resources={resources} />
        </RequireScope>
      )}
      <h3>{text.assignments}</h3>
      <Assignments tenant={tenant} data={data} none={text.noneOfThese} />
      <ConfigurationLines place={place} tenant={tenant} resources={resources} />
    </Drawer>
  );
}

function AssignForm({ place, tenant, resources }: AssignProps & { readonly resources: readonly string[] }) {
  const [identity, setIdentity] = useState("");
  const [from, setFrom] = useState(periodOf(place).first);
  const [to, setTo] = useState("");
  const params = { path: { tenant_name: tenant } };
  const assigned = {
    resource_ids: [...resources],
    identity_id: identity,
    valid_from: from,
    ...(to !== "" && { valid_to: to }),
  };
  return (
    <DecisionForm
      hint={`${text.hint} ${text.lookback}`}
      submit={text.submit}
      save={(by) =>
        bodyOf(
          api.POST("/api/v1/tenants/{tenant_name}/assignments", { params, body: { ...assigned, ...by } }),
        )
      }
      done={() => (
        <>
          {text.done(resources.length, identity)} <Link href={viewPath(tenant, "runs")}>{text.toRuns}</Link>
        </>
      )}
    >
      <Field label={text.identity} value={identity} maxLength={LONGEST_IDENTITY} onInput={setIdentity} />
      <Day label={text.from} value={from} onInput={setFrom} required />
      <Day label={text.to} value={to} onInput={setTo} min={from} />
    </DecisionForm>
  );
}
