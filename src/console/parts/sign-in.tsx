/** The sign-in page, which replaces the view until the user has signed in. The address stays the same. */
import { useState } from "preact/hooks";
import { ApiRequestError, type Schemas } from "../api/client.js";
import { signInWith } from "../api/session.js";
import { useApi } from "../api/use-api.js";
import { signInFailure } from "../state/session.js";
import { en } from "../text/en.js";
import { FieldError, Shown } from "./messages.js";

const text = en.signIn;

export function SignIn() {
  const options = useApi("/api/v1/sign-in", {});
  return (
    <main id="content" class="sign-in">
      <div class="card">
        <h1>{text.title}</h1>
        <Shown data={options}>{(given) => <Ways options={given} />}</Shown>
      </div>
    </main>
  );
}

function Ways({ options: { auth, issuer_name: issuer } }: { readonly options: Schemas["SignInOptions"] }) {
  if (issuer === null)
    return (
      <>
        {auth !== "tokens" && (
          <p>
            {text.atProxy}{" "}
            <button type="button" onClick={() => location.reload()}>
              {text.reload}
            </button>
          </p>
        )}
        <p class="hint">{text.hint}</p>
        <TokenForm />
      </>
    );
  const returnTo = encodeURIComponent(location.pathname + location.search);
  const failure = signInFailure && (text.failed(issuer)[signInFailure] ?? text.failed(issuer).refused);
  return (
    <>
      {failure !== undefined && (
        <p class="field-error" role="alert">
          {failure}
        </p>
      )}
      <p>
        <a class="button" href={`/sign-in?return_to=${returnTo}`}>
          {text.at(issuer)}
        </a>
      </p>
      <details>
        <summary>{text.withToken}</summary>
        <TokenForm />
      </details>
    </>
  );
}

function TokenForm() {
  const [token, setToken] = useState("");
  const [error, setError] = useState<unknown>();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setError(undefined);
        signInWith(token.trim()).catch(setError);
      }}
    >
      {error instanceof ApiRequestError && error.status === 401 ? (
        <p class="field-error" role="alert">
          {text.refused}
        </p>
      ) : (
        <FieldError error={error} />
      )}
      <label>
        {text.token}{" "}
        <input
          type="password"
          autocomplete="off"
          required
          value={token}
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
        />
      </label>{" "}
      <button type="submit" class="primary">
        {text.submit}
      </button>
      <p class="hint">{text.kept}</p>
    </form>
  );
}
