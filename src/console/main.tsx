/** The console: which view an address means. */
import { Component, type ComponentChildren, type FunctionComponent, render } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect } from "preact/hooks";
import { api, bodyOf } from "./api/client.js";
import { Frame } from "./parts/frame.js";
import { Link } from "./parts/link.js";
import { Empty, Failed, Shown } from "./parts/messages.js";
import { SignIn } from "./parts/sign-in.js";
import { Caller } from "./state/caller.js";
import { type Place, useLocation } from "./state/location.js";
import { viewOf } from "./state/paths.js";
import { useIsAsked } from "./state/session.js";
import { useData } from "./state/use-data.js";
import { en } from "./text/en.js";

/** A view whose code comes when it is drawn, or before, by `load`. */
function view(load: () => Promise<FunctionComponent<{ readonly place: Place; readonly tenant: string }>>) {
  return Object.assign(lazy(load), { load });
}

const views = {
  overview: view(async () => (await import("./views/overview.js")).Overview),
  explorer: view(async () => (await import("./views/explorer.js")).Explorer),
  statement: view(async () => (await import("./views/statement.js")).Statement),
  inventory: view(async () => (await import("./views/inventory.js")).Inventory),
  tags: view(async () => (await import("./views/tags.js")).Tags),
  rules: view(async () => (await import("./views/rules.js")).Rules),
  worklist: view(async () => (await import("./views/worklist.js")).Worklist),
  deliveries: view(async () => (await import("./views/deliveries.js")).Deliveries),
  runs: view(async () => (await import("./views/runs.js")).Runs),
};
const Explain = lazy(async () => (await import("./parts/explain.js")).Explain);
const Dimension = lazy(async () => (await import("./parts/dimension.js")).Dimension);
const Tenants = lazy(async () => (await import("./views/tenants.js")).Tenants);

function Console() {
  const place = useLocation();
  const found = viewOf(place.path);
  const why = place.query.get("why");
  const dimension = place.query.get("dimension");
  // Says which tenants there are, too: how they are takes a look at all their stores, which only the list of them waits for.
  const caller = useData("me", (signal) => bodyOf(api.GET("/api/v1/me", { signal })));
  const title = found?.view === undefined ? en.views.tenants : `${en.views[found.view]} · ${found.tenant}`;
  useEffect(() => {
    document.title = `${title} · ${en.product}`;
  }, [title]);
  return (
    <Shown data={caller} height="100vh">
      {(me) => {
        const View = found?.view && views[found.view];
        const isKnown = found?.tenant === undefined || me.tenants.includes(found.tenant);
        return (
          <Caller.Provider value={me}>
            <Frame
              place={place}
              tenants={me.tenants}
              tenant={isKnown ? found?.tenant : undefined}
              view={found?.view}
            >
              <Guard key={place.path}>
                <Suspense fallback={<div class="loading">{en.loading}</div>}>
                  {found === undefined || !isKnown ? (
                    <Empty title={en.frame.noSuchPage}>
                      <p>
                        <Link href="/">{en.frame.home}</Link>
                      </p>
                    </Empty>
                  ) : View !== undefined && found.tenant !== undefined ? (
                    <View place={place} tenant={found.tenant} />
                  ) : (
                    <Tenants place={place} />
                  )}
                </Suspense>
                {isKnown && View !== undefined && found?.tenant !== undefined && (
                  // Beside the view: while a drawer is loaded the view stays, and so does the focus in it.
                  <Suspense fallback={null}>
                    {why !== null && <Explain key={why} place={place} tenant={found.tenant} why={why} />}
                    {dimension !== null && (
                      <Dimension key={dimension} place={place} tenant={found.tenant} dimension={dimension} />
                    )}
                  </Suspense>
                )}
              </Guard>
            </Frame>
          </Caller.Provider>
        );
      }}
    </Shown>
  );
}

function App() {
  return useIsAsked() ? <SignIn /> : <Console />;
}

/** A view that cannot be drawn says so, and leaves the rest of the page. */
class Guard extends Component<{ readonly children: ComponentChildren }, { readonly error?: unknown }> {
  override state: { readonly error?: unknown } = {};
  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (this.state.error === undefined) return this.props.children;
    console.error(this.state.error);
    return (
      <>
        <p>{en.frame.refused}</p>
        <Failed error={this.state.error} />
      </>
    );
  }
}

const root = document.getElementById("root");
if (root !== null) render(<App />, root);

// The code of the view comes while the service is asked who calls. An error shows where the view is drawn.
const first = viewOf(location.pathname)?.view;
if (first !== undefined) views[first].load().catch(() => undefined);
