/** The menu in the header: who is signed in, settings of this browser, and links. */
import { useContext, useEffect, useState } from "preact/hooks";
import { signOut } from "../api/session.js";
import { SignedInCaller } from "../state/caller.js";
import { hasAllDigits } from "../state/digits.js";
import { changed, datesAlone, go, type Place } from "../state/location.js";
import { en } from "../text/en.js";
import { Link } from "./link.js";
import { FieldError } from "./messages.js";

const text = en.frame;

export function Menu({ place }: { readonly place: Place }) {
  const name = useContext(SignedInCaller)?.name ?? undefined;
  return (
    <>
      <button type="button" class="menu-opener" popovertarget="menu" aria-label={text.menuOf(name)}>
        <span class="who">{name ?? text.menu}</span> <span aria-hidden="true">⋮</span>
      </button>
      <div id="menu" class="menu" popover="auto">
        <Account />
        <Theme />
        <label title={text.digitsHint}>
          <input
            type="checkbox"
            checked={hasAllDigits(place)}
            onChange={({ currentTarget }) =>
              go(changed(place, { digits: currentTarget.checked ? "all" : undefined }), { replace: true })
            }
          />{" "}
          {text.digits}
        </label>
        <AdminLinks place={place} />
        <a href="/docs">{text.api}</a>
      </div>
    </>
  );
}

function Account() {
  const caller = useContext(SignedInCaller);
  const [error, setError] = useState<unknown>();
  if (!caller?.name) return null;
  return (
    <>
      <p>
        {text.signedIn} <strong>{caller.name}</strong>
      </p>
      {caller.session_id !== null && (
        <>
          <button type="button" onClick={() => signOut(false).catch(setError)}>
            {en.signIn.signOut}
          </button>
          <button type="button" onClick={() => signOut(true).catch(setError)}>
            {en.signIn.everywhere}
          </button>
          <FieldError error={error} />
        </>
      )}
    </>
  );
}

/** Whether the caller may use the pages that concern all tenants. */
export function useIsAdmin(): boolean {
  const caller = useContext(SignedInCaller);
  return caller?.every_tenant === true && caller.scopes.includes("admin") && caller.auth !== "none";
}

/** Pages that concern all tenants. */
export function AdminLinks({ place }: { readonly place: Place }) {
  if (!useIsAdmin()) return null;
  return (
    <>
      <Link href={changed(datesAlone(place), {}, "/access")}>{en.access.pages.access}</Link>
      <Link href={changed(datesAlone(place), {}, "/audit")}>{en.access.pages.audit}</Link>
    </>
  );
}

type ThemeName = keyof typeof text.themes;

function Theme() {
  const [theme, setTheme] = useState<ThemeName>(
    () => (localStorage.getItem("theme") ?? "system") as ThemeName,
  );
  useEffect(() => {
    if (theme === "system") localStorage.removeItem("theme");
    else localStorage.setItem("theme", theme);
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return (
    <label>
      {text.theme}{" "}
      <select value={theme} onChange={({ currentTarget }) => setTheme(currentTarget.value as ThemeName)}>
        {Object.entries(text.themes).map(([each, title]) => (
          <option key={each} value={each}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}
