/** Renames and removes single tags, and adds tags to a dimension. */
import type { ComponentChildren } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { api, bodyOf, type Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import { SignedInCaller } from "../state/caller.js";
import { useChange } from "../state/use-change.js";
import { en } from "../text/en.js";
import { Field } from "./controls.js";
import { FieldError, Shown } from "./messages.js";
import { RequireScope } from "./require-scope.js";
import { DataTable, type TableColumn } from "./table.js";

const text = en.tags;

export const longest = { tag_key: 100, display_name: 500, created_by: 100 } as const;

type Tag = Schemas["TagRecord"];

/** Name of the author of tags. The browser stores it, so that it is typed only once. */
export function useAuthor() {
  const [author, setAuthor] = useState(() => localStorage.getItem("author") ?? "");
  const remember = () => localStorage.setItem("author", author);
  return { author, setAuthor, remember };
}

/** Input for the author. Shown only if the service does not know the caller's name. */
export function Author({ author, setAuthor }: Omit<ReturnType<typeof useAuthor>, "remember">) {
  const caller = useContext(SignedInCaller);
  if (caller?.name !== null) return null;
  return <Field label={text.author} value={author} maxLength={longest.created_by} onInput={setAuthor} />;
}

interface TagProps {
  readonly tenant: string;
  readonly tag: Tag;
}

/** The display name of a tag, with buttons to rename and remove it. */
export function TagName({ tenant, tag }: TagProps) {
  const [mode, setMode] = useState<"shown" | "renaming" | "removing">("shown");
  const before = useRef(mode);
  const shown = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    // Return the focus to the button that opened the form.
    if (mode === "shown" && before.current !== "shown")
      shown.current?.querySelector<HTMLElement>(`.${before.current}`)?.focus();
    before.current = mode;
  }, [mode]);
  const close = () => setMode("shown");
  if (mode === "renaming") return <Rename tenant={tenant} tag={tag} close={close} />;
  if (mode === "removing") return <Remove tenant={tenant} tag={tag} close={close} />;
  const name = `${tag.tag_key}=${tag.display_name}`;
  return (
    <span ref={shown} class="tag-name">
      <bdi title={tag.display_name}>{tag.display_name}</bdi>
      <RequireScope scope="tags">
        <button
          type="button"
          class="renaming"
          aria-label={text.renameOf(name)}
          onClick={() => setMode("renaming")}
        >
          {text.rename}
        </button>
        <button
          type="button"
          class="removing"
          aria-label={text.removeOf(name)}
          onClick={() => setMode("removing")}
        >
          {text.remove}
        </button>
      </RequireScope>
    </span>
  );
}

interface EditProps extends TagProps {
  readonly close: () => void;
}

function Rename({ tenant, tag, close }: EditProps) {
  const [name, setName] = useState(tag.display_name);
  const { error, isBusy, change } = useChange();
  const params = { path: { tenant_name: tenant, tag_id: tag.tag_id } };
  const save = async () => {
    const rename = () =>
      bodyOf(
        api.PATCH("/api/v1/tenants/{tenant_name}/tags/{tag_id}", { params, body: { display_name: name } }),
      );
    if (name === tag.display_name || (await change(rename))) close();
  };
  return (
    <Edit label={text.renaming} onSubmit={save} close={close} error={error}>
      <input
        required
        aria-label={text.value}
        maxLength={longest.display_name}
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={isBusy}>
        {text.save}
      </button>
    </Edit>
  );
}

function Remove({ tenant, tag, close }: EditProps) {
  const { error, isBusy, change } = useChange();
  const params = { path: { tenant_name: tenant, tag_id: tag.tag_id } };
  const remove = () =>
    change(() => bodyOf(api.DELETE("/api/v1/tenants/{tenant_name}/tags/{tag_id}", { params })));
  return (
    <Edit label={text.removing} onSubmit={remove} close={close} error={error}>
      <span>
        {text.removing} <bdi>{tag.display_name}</bdi>
      </span>
      <button type="submit" class="danger" disabled={isBusy}>
        {text.remove}
      </button>
    </Edit>
  );
}

interface EditorProps {
  readonly label: string;
  readonly onSubmit: () => unknown;
  readonly close: () => void;
  readonly error: unknown;
  readonly children: ComponentChildren;
}

/** A form that replaces the edited text. Escape cancels it. */
function Edit({ label, onSubmit, close, error, children }: EditorProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>("input, button")?.focus(), []);
  return (
    <form
      ref={form}
      class="edit"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        // Otherwise, Escape would also close the drawer around the form.
        event.preventDefault();
        close();
      }}
    >
      {children}
      <button type="button" onClick={close}>
        {text.cancel}
      </button>
      <FieldError error={error} />
    </form>
  );
}

interface DimensionProps {
  readonly tenant: string;
  readonly dimension: number;
}

/** All tags of a dimension, and a form to add one. */
export function DimensionTags({ tenant, dimension }: DimensionProps) {
  const path = { tenant_name: tenant, dimension_id: dimension };
  const data = useApi("/api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}/tags", { path });
  const columns: TableColumn<Tag>[] = [
    { key: "key", title: text.key, cell: ({ tag_key }) => <bdi>{tag_key}</bdi> },
    { key: "value", title: text.value, cell: (tag) => <TagName tenant={tenant} tag={tag} /> },
  ];
  return (
    <>
      <Shown data={data} height="3rem">
        {(tags) =>
          tags.length === 0 ? (
            <p class="hint">{text.noneHere}</p>
          ) : (
            <DataTable
              caption={text.ofDimension}
              columns={columns}
              rows={tags}
              keyOf={({ tag_id }) => String(tag_id)}
            />
          )
        }
      </Shown>
      <RequireScope scope="tags">
        <AddTag tenant={tenant} dimension={dimension} />
      </RequireScope>
    </>
  );
}

function AddTag({ tenant, dimension }: DimensionProps) {
  const [key, setKey] = useState("");
  const [name, setName] = useState("");
  const { author, setAuthor, remember } = useAuthor();
  const { error, isBusy, change } = useChange();
  const add = async () => {
    remember();
    const params = { path: { tenant_name: tenant, dimension_id: dimension } };
    const body = { tag_key: key, display_name: name, created_by: author };
    const isAdded = await change(() =>
      bodyOf(api.POST("/api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}/tags", { params, body })),
    );
    if (!isAdded) return;
    setKey("");
    setName("");
  };
  return (
    <form
      class="controls tag-form"
      aria-label={text.add}
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <Field label={text.key} value={key} maxLength={longest.tag_key} onInput={setKey} />
      <Field label={text.value} value={name} maxLength={longest.display_name} onInput={setName} />
      <Author author={author} setAuthor={setAuthor} />
      <button type="submit" disabled={isBusy}>
        {text.add}
      </button>
      <FieldError error={error} />
    </form>
  );
}
