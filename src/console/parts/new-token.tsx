/** Form that creates a token, and shows it once. */
import type { ComponentChildren } from "preact";
import { useContext, useRef, useState } from "preact/hooks";
import { api, bodyOf, type Schemas } from "../api/client.js";
import { SignedInCaller } from "../state/caller.js";
import { useChange } from "../state/use-change.js";
import { useCopy } from "../state/use-copy.js";
import { en } from "../text/en.js";
import { Field } from "./controls.js";
import { FieldError } from "./messages.js";

const text = en.access;
type Scope = Schemas["Me"]["scopes"][number];
const DEFAULT_DAYS = 90;

export function NewToken() {
  // A caller who may create tokens has all scopes and tenants.
  const { scopes: allScopes = [], tenants: allTenants = [] } = useContext(SignedInCaller) ?? {};
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
  const [tenants, setTenants] = useState<readonly string[]>([]);
  const [isForEvery, setForEvery] = useState(false);
  const [days, setDays] = useState(DEFAULT_DAYS);
  const [created, setCreated] = useState<string>();
  const { error, isBusy, change } = useChange();
  const create = async () => {
    const which = isForEvery ? { every_tenant: true } : { tenants: [...tenants], every_tenant: false };
    const made = await bodyOf(
      api.POST("/api/v1/tokens", {
        body: { name, scopes: [...scopes], days, ...which },
      }),
    );
    setCreated(made.token);
    setName("");
  };
  return (
    <form
      class="edit"
      onSubmit={(event) => {
        event.preventDefault();
        change(create);
      }}
    >
      <Field label={text.name} value={name} maxLength={100} onInput={setName} />
      <Many label={text.scopes} options={allScopes} chosen={scopes} onChoose={setScopes} />
      <Many
        label={text.tenants}
        options={isForEvery ? [] : allTenants}
        chosen={tenants}
        onChoose={setTenants}
      >
        <label>
          <input
            type="checkbox"
            checked={isForEvery}
            onChange={({ currentTarget }) => setForEvery(currentTarget.checked)}
          />{" "}
          {text.every}
        </label>
      </Many>
      <label>
        {text.days}{" "}
        <input
          type="number"
          min={1}
          max={3650}
          required
          value={days}
          onInput={({ currentTarget }) => setDays(currentTarget.valueAsNumber)}
        />
      </label>
      <button
        type="submit"
        class="primary"
        disabled={isBusy || scopes.length === 0 || (tenants.length === 0 && !isForEvery)}
      >
        {text.create}
      </button>
      <FieldError error={error} />
      {created !== undefined && <Created key={created} token={created} />}
    </form>
  );
}

interface ManyProps<Option extends string> {
  readonly label: string;
  readonly options: readonly Option[];
  readonly chosen: readonly Option[];
  readonly onChoose: (chosen: readonly Option[]) => void;
  /** Another option, which includes all of these. */
  readonly children?: ComponentChildren;
}

function Many<Option extends string>({ label, options, chosen, onChoose, children }: ManyProps<Option>) {
  return (
    <fieldset>
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option}>
          <input
            type="checkbox"
            checked={chosen.includes(option)}
            onChange={({ currentTarget: { checked } }) =>
              onChoose(checked ? [...chosen, option] : chosen.filter((each) => each !== option))
            }
          />{" "}
          {option}{" "}
        </label>
      ))}
      {children}
    </fieldset>
  );
}

function Created({ token }: { readonly token: string }) {
  const shown = useRef<HTMLElement>(null);
  const { isCopied, copy } = useCopy();
  return (
    <p role="status">
      {text.created} <code ref={shown}>{token}</code>{" "}
      <button type="button" onClick={() => copy(token, shown.current)}>
        {isCopied ? text.copied : text.copy}
      </button>
    </p>
  );
}
