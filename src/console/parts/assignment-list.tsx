/** Assignments of a tenant or of some resources, with buttons that end and delete them. */
import { useState } from "preact/hooks";
import { api, bodyOf, type Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import { useChange } from "../state/use-change.js";
import type { Data } from "../state/use-data.js";
import { en } from "../text/en.js";
import { Day } from "./controls.js";
import { FieldError, Shown } from "./messages.js";
import { RequireScope } from "./require-scope.js";
import { DataTable, type TableColumn } from "./table.js";

const text = en.assign;
/** Resources whose assignments one request can name. */
const MOST_NAMED = 20;

type Assignment = Schemas["Assignment"];

interface ListQuery {
  readonly page?: number;
  readonly page_size: number;
  readonly resource_id?: string[];
  readonly valid_on?: string;
}

export function useAssignments(tenant: string, query: ListQuery) {
  return useApi("/api/v1/tenants/{tenant_name}/assignments", { path: { tenant_name: tenant }, query });
}

/** Returns the identity of a resource on a day; undefined if it is not assigned, or while that is loading. */
export function useAssignedOn(tenant: string, day: string): (resource: string) => string | undefined {
  const { value } = useAssignments(tenant, { page_size: 1000, valid_on: day });
  const identities = new Map(value?.items.map((each) => [each.resource_id, each.identity_id]));
  return (resource) => identities.get(resource);
}

/** Reads the assignments of the first resources. */
export const useAssignmentsOf = (tenant: string, resources: readonly string[]) =>
  useAssignments(tenant, { page_size: 100, resource_id: resources.slice(0, MOST_NAMED) });

interface AssignmentsProps {
  readonly tenant: string;
  readonly data: Data<{ readonly items: Assignment[] }>;
  readonly none: string;
}

export function Assignments({ tenant, data, none }: AssignmentsProps) {
  const columns: TableColumn<Assignment>[] = [
    {
      key: "resource",
      title: en.columns.resource_id ?? "",
      cell: ({ resource_id }) => <bdi title={resource_id}>{resource_id}</bdi>,
    },
    {
      key: "identity",
      title: en.columns.identity_id ?? "",
      cell: ({ identity_id }) => <bdi title={identity_id}>{identity_id}</bdi>,
    },
    {
      key: "days",
      title: text.daysTitle,
      cell: ({ valid_from, valid_to }) => text.days(valid_from, valid_to),
    },
    { key: "reason", title: text.reason, wraps: true, cell: ({ reason }) => <bdi>{reason}</bdi> },
    { key: "by", title: text.by, cell: ({ created_by }) => <bdi>{created_by}</bdi> },
    {
      key: "change",
      title: "",
      cell: (assignment) => (
        <RequireScope scope="assign">
          <ChangeAssignment tenant={tenant} assignment={assignment} />
        </RequireScope>
      ),
    },
  ];
  return (
    <Shown data={data} height="3rem">
      {({ items }) =>
        items.length === 0 ? (
          <p class="hint">{none}</p>
        ) : (
          <DataTable
            caption={text.assignments}
            columns={columns}
            rows={items}
            keyOf={({ assignment_id }) => String(assignment_id)}
          />
        )
      }
    </Shown>
  );
}

interface ChangeProps {
  readonly tenant: string;
  readonly assignment: Assignment;
}

function ChangeAssignment({ tenant, assignment }: ChangeProps) {
  const { assignment_id, resource_id, valid_from, valid_to } = assignment;
  const [mode, setMode] = useState<"shown" | "ending" | "removing">("shown");
  const [day, setDay] = useState(valid_to ?? "");
  const { error, isBusy, change } = useChange();
  const path = "/api/v1/tenants/{tenant_name}/assignments/{assignment_id}";
  const params = { path: { tenant_name: tenant, assignment_id } };
  const end = () => bodyOf(api.PATCH(path, { params, body: { valid_to: day } }));
  const remove = () => bodyOf(api.DELETE(path, { params }));
  if (mode === "shown")
    return (
      <span class="tag-name">
        <button type="button" aria-label={text.endOf(resource_id)} onClick={() => setMode("ending")}>
          {text.end}
        </button>
        <button type="button" aria-label={text.removeOf(resource_id)} onClick={() => setMode("removing")}>
          {text.remove}
        </button>
      </span>
    );
  return (
    <form
      class="edit"
      onSubmit={async (event) => {
        event.preventDefault();
        if (await change(mode === "ending" ? end : remove)) setMode("shown");
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        setMode("shown");
      }}
    >
      {mode === "ending" ? (
        <Day label={text.lastDay} value={day} onInput={setDay} min={valid_from} required />
      ) : (
        <span>{text.removing}</span>
      )}
      <button type="submit" class={mode === "ending" ? "primary" : "danger"} disabled={isBusy}>
        {mode === "ending" ? text.end : text.remove}
      </button>
      <button type="button" onClick={() => setMode("shown")}>
        {en.tags.cancel}
      </button>
      <FieldError error={error} />
    </form>
  );
}
