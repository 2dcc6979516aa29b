/** Form for the token, shown if the service requires one. */
import { useState } from "preact/hooks";
import { signIn, wasTokenRejected } from "../state/session.js";
import { en } from "../text/en.js";

const text = en.signIn;

export function SignIn() {
  const [token, setToken] = useState("");
  return (
    <main id="content" class="sign-in">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          signIn(token);
        }}
      >
        <h1>{text.title}</h1>
        <p class="hint">{text.hint}</p>
        {wasTokenRejected() && (
          <p class="field-error" role="alert">
            {text.refused}
          </p>
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
      </form>
    </main>
  );
}
