/** Drawer that assigns resources to an identity. It is open while the address has `assign`, a resource each. */
import { useState } from "preact/hooks";
import { api, bodyOf } from "../api/client.js";
import { changed, type Place } from "../state/location.js";
import { viewPath } from "../state/paths.js";
import { periodOf } from "../state/period.js";
import { useChange } from "../state/use-change.js";
import { en } from "../text/en.js";
import { AssignmentList } from "./assignment-list.js";
import { ConfigurationLines } from "./configuration-lines.js";
import { Day, Field } from "./controls.js";
import { Drawer } from "./drawer.js";
import { Link } from "./link.js";
import { FieldError } from "./messages.js";
import { RequireScope } from "./require-scope.js";
import { Author, useAuthor } from "./tag-editor.js";

const text = en.assign;
const longest = { identity_id: 1000, reason: 500 } as const;

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
  const title = text.title(resources.length);
  return (
    <Drawer key={resources.join("\n")} place={place} parameter="assign" title={title}>
      <h2>{title}</h2>
      <ul class="assigned-resources">
        {resources.map((resource) => (
          <li key={resource}>
            <bdi>{resource}</bdi>
          </li>
        ))}
      </ul>
      <RequireScope scope="assign">
        <AssignForm place={place} tenant={tenant} resources={resources} />
      </RequireScope>
      <h3>{text.assignments}</h3>
      <AssignmentList tenant={tenant} resources={resources} />
      <ConfigurationLines place={place} tenant={tenant} resources={resources} />
    </Drawer>
  );
}

function AssignForm({ place, tenant, resources }: AssignProps & { readonly resources: readonly string[] }) {
  const [identity, setIdentity] = useState("");
  const [from, setFrom] = useState(periodOf(place).first);
  const [to, setTo] = useState("");
  const [reason, setReason] = useState("");
  const [done, setDone] = useState<string>();
  const { author, setAuthor, remember } = useAuthor();
  const { error, isBusy, change } = useChange();
  const save = async () => {
    remember();
    setDone(undefined);
    const params = { path: { tenant_name: tenant } };
    const body = {
      resource_ids: [...resources],
      identity_id: identity,
      valid_from: from,
      ...(to !== "" && { valid_to: to }),
      reason,
      created_by: author,
    };
    const isSaved = await change(() =>
      bodyOf(api.POST("/api/v1/tenants/{tenant_name}/assignments", { params, body })),
    );
    if (isSaved) setDone(text.done(resources.length, identity));
  };
  return (
    <form
      aria-label={text.submit}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <p class="hint">
        {text.hint} {text.lookback}
      </p>
      <div class="controls">
        <Field label={text.identity} value={identity} maxLength={longest.identity_id} onInput={setIdentity} />
        <Day label={text.from} value={from} onInput={setFrom} required />
        <Day label={text.to} value={to} onInput={setTo} min={from} />
        <Field label={text.reason} value={reason} maxLength={longest.reason} onInput={setReason} />
        <Author author={author} setAuthor={setAuthor} />
        <button type="submit" class="primary" disabled={isBusy}>
          {text.submit}
        </button>
      </div>
      <FieldError error={error} />
      <p role="status">
        {done !== undefined && (
          <>
            {done} <Link href={viewPath(tenant, "runs")}>{text.toRuns}</Link>
          </>
        )}
      </p>
    </form>
  );
}
