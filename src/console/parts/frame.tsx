/** Header and footer around every view. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { hasAllDigits } from "../state/digits.js";
import { changed, datesAlone, go, type Place } from "../state/location.js";
import { type TenantView, tenantViews, viewPath } from "../state/paths.js";
import { sessionToken, signOut } from "../state/session.js";
import { en } from "../text/en.js";
import { Link } from "./link.js";
import { PeriodPicker } from "./period-picker.js";

interface FrameProps {
  readonly place: Place;
  /** Names of all tenants that the caller may see. */
  readonly tenants: readonly string[];
  readonly tenant?: string | undefined;
  readonly view?: TenantView | undefined;
  readonly children: ComponentChildren;
}

/** Parameters that belong to one view. Links to other views keep the days and the filters and drop these. */
const VIEW_PARAMETERS = [
  "group_by",
  "time_bucket",
  "limit",
  "chart",
  "compare",
  "sort",
  "path",
  "row",
  "page",
  "kind",
  "search",
  "status",
  "type",
  "rows",
  "why",
  "key",
  "dimension",
  "history",
  "lacking_page",
] as const;
const withoutViewParameters = Object.fromEntries(VIEW_PARAMETERS.map((name) => [name, undefined]));

export function Frame({ place, tenants, tenant, view, children }: FrameProps) {
  const tabs = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const nav = tabs.current;
    const tab = nav?.querySelector<HTMLElement>("[aria-current]");
    // `scrollIntoView` would also scroll the page.
    if (nav && tab) nav.scrollLeft = tab.offsetLeft - (nav.clientWidth - tab.offsetWidth) / 2;
  }, [tenant, view]);
  return (
    <>
      <a class="skip" href="#content">
        {en.frame.skip}
      </a>
      <header>
        <Link class="product" href="/">
          <span aria-hidden="true" class="mark" />
          {en.product}
        </Link>
        {tenant !== undefined && (
          <>
            <select
              aria-label={en.frame.tenant}
              value={tenant}
              onChange={({ currentTarget }) =>
                go(
                  // Filters name values of one tenant, so drop them.
                  changed(datesAlone(place), {}, viewPath(currentTarget.value, view ?? "overview")),
                )
              }
            >
              {tenants.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
            <nav ref={tabs} aria-label={tenant}>
              {tenantViews.map((each) => (
                <Link
                  key={each}
                  href={changed(place, withoutViewParameters, viewPath(tenant, each))}
                  aria-current={each === view ? "page" : undefined}
                >
                  {en.views[each]}
                </Link>
              ))}
            </nav>
          </>
        )}
        <span class="spring" />
        {view !== "deliveries" && <PeriodPicker place={place} />}
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <footer>
        <a href="/docs">{en.frame.api}</a>
        {sessionToken() !== undefined && (
          <button type="button" onClick={signOut}>
            {en.signIn.signOut}
          </button>
        )}
        <label title={en.frame.digitsHint}>
          <input
            type="checkbox"
            checked={hasAllDigits(place)}
            onChange={({ currentTarget }) =>
              go(changed(place, { digits: currentTarget.checked ? "all" : undefined }), { replace: true })
            }
          />{" "}
          {en.frame.digits}
        </label>
        <Theme />
      </footer>
    </>
  );
}

type ThemeName = keyof typeof en.frame.themes;

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
      {en.frame.theme}{" "}
      <select value={theme} onChange={({ currentTarget }) => setTheme(currentTarget.value as ThemeName)}>
        {Object.entries(en.frame.themes).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
