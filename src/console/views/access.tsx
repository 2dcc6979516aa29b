/** Tokens and sessions, for administrators of all tenants. */
import { useContext, useState } from "preact/hooks";
import { api, bodyOf, type Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import { FieldError, Shown } from "../parts/messages.js";
import { NewToken } from "../parts/new-token.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { SignedInCaller } from "../state/caller.js";
import { shownInstant } from "../state/days.js";
import { useChange } from "../state/use-change.js";
import { en } from "../text/en.js";

const text = en.access;
type Token = Schemas["Token"];
type Session = Schemas["Session"];

export function Access() {
  const tokens = useApi("/api/v1/tokens", {});
  const sessions = useApi("/api/v1/sessions", {});
  return (
    <>
      <div class="title">
        <h1>{text.pages.access}</h1>
      </div>
      <section class="card">
        <h2>{text.tokens}</h2>
        <Shown data={tokens}>
          {(all) => (
            <>
              <Tokens tokens={all} />
              <NewToken />
            </>
          )}
        </Shown>
      </section>
      <section class="card">
        <h2>{text.sessions}</h2>
        <Shown data={sessions}>{(all) => <Sessions sessions={all} />}</Shown>
      </section>
    </>
  );
}

function Tokens({ tokens }: { readonly tokens: readonly Token[] }) {
  const columns: TableColumn<Token>[] = [
    { key: "name", title: text.name, cell: ({ name }) => <bdi>{name}</bdi> },
    { key: "scopes", title: text.scopes, cell: ({ scopes }) => scopes.join(", ") },
    {
      key: "tenants",
      title: text.tenants,
      wraps: true,
      cell: ({ tenants }) => tenants?.join(", ") ?? text.every,
    },
    { key: "state", title: text.state, cell: ({ state }) => text.states[state] },
    { key: "expires", title: text.expires, cell: ({ expires_at: at }) => shownInstant(at) },
    {
      key: "used",
      title: text.lastUsed,
      cell: ({ last_used_at: at }) => (at === null ? text.never : shownInstant(at)),
    },
    { key: "by", title: text.createdBy, cell: ({ created_by: by }) => by ?? "" },
    { key: "change", title: "", cell: (token) => token.state === "valid" && <Revoke token={token} /> },
  ];
  return tokens.length === 0 ? (
    <p class="hint">{text.noTokens}</p>
  ) : (
    <DataTable
      caption={text.tokens}
      columns={columns}
      rows={tokens}
      keyOf={({ token_id }) => String(token_id)}
    />
  );
}

function Revoke({ token: { token_id, name } }: { readonly token: Token }) {
  const [isAsking, setAsking] = useState(false);
  const { error, isBusy, change } = useChange();
  const params = { path: { token_id } };
  if (!isAsking)
    return (
      <span class="tag-name">
        <button type="button" aria-label={text.revokeOf(name, token_id)} onClick={() => setAsking(true)}>
          {text.revoke}
        </button>
      </span>
    );
  return (
    <span class="edit">
      <span>{text.revoking}</span>
      <button
        type="button"
        class="danger"
        disabled={isBusy}
        onClick={() => change(() => bodyOf(api.DELETE("/api/v1/tokens/{token_id}", { params })))}
      >
        {text.revoke}
      </button>
      <button type="button" onClick={() => setAsking(false)}>
        {text.cancel}
      </button>
      <FieldError error={error} />
    </span>
  );
}

function Sessions({ sessions }: { readonly sessions: readonly Session[] }) {
  const own = useContext(SignedInCaller)?.session_id;
  const columns: TableColumn<Session>[] = [
    { key: "name", title: text.name, cell: ({ name }) => <bdi>{name}</bdi> },
    { key: "kind", title: text.kind, cell: ({ kind }) => text.kinds[kind] },
    { key: "address", title: text.address, cell: ({ address }) => address ?? "" },
    { key: "signed_in", title: text.signedIn, cell: ({ signed_in_at: at }) => shownInstant(at) },
    { key: "used", title: text.lastUsed, cell: ({ last_used_at: at }) => shownInstant(at) },
    { key: "expires", title: text.expires, cell: ({ expires_at: at }) => shownInstant(at) },
    {
      key: "change",
      title: "",
      cell: (session) => (session.session_id === own ? text.own : <End session={session} />),
    },
  ];
  return sessions.length === 0 ? (
    <p class="hint">{text.noSessions}</p>
  ) : (
    <DataTable
      caption={text.sessions}
      columns={columns}
      rows={sessions}
      keyOf={({ session_id }) => String(session_id)}
    />
  );
}

function End({ session: { session_id, name } }: { readonly session: Session }) {
  const { error, isBusy, change } = useChange();
  const params = { path: { session_id } };
  return (
    <span class="tag-name">
      <button
        type="button"
        aria-label={text.endOf(name, session_id)}
        disabled={isBusy}
        onClick={() => change(() => bodyOf(api.DELETE("/api/v1/sessions/{session_id}", { params })))}
      >
        {text.end}
      </button>
      <FieldError error={error} />
    </span>
  );
}
