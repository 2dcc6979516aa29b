/** Entry point of the console: maps the address to a view and renders it. */
import { Component, type ComponentChildren, type FunctionComponent, render } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect } from "preact/hooks";
import { api } from "./api/client.js";
import { useApi } from "./api/use-api.js";
import { Frame } from "./parts/frame.js";
import { Link } from "./parts/link.js";
import { Empty, FailureMessage, Shown } from "./parts/messages.js";
import { SignIn } from "./parts/sign-in.js";
import { SignedInCaller } from "./state/caller.js";
import { copyExactAmounts } from "./state/copy.js";
import { AllDigits, hasAllDigits } from "./state/digits.js";
import { type Place, useLocation } from "./state/location.js";
import { viewOf } from "./state/paths.js";
import { signedIn, useSignInRequired } from "./state/session.js";
import { en } from "./text/en.js";

/** A component whose code is loaded when it is rendered. */
function lazily<Props>(load: () => Promise<FunctionComponent<Props>>) {
  return lazy(async () => {
    try {
      return await load();
    } catch (error) {
      // If a proxy wants the user to sign in, the client of the API notices it.
      await api.GET("/api/v1/me");
      throw error;
    }
  });
}

/** A view whose code is loaded when it is rendered, or earlier by `load`. */
function view(load: () => Promise<FunctionComponent<{ readonly place: Place; readonly tenant: string }>>) {
  return Object.assign(lazily(load), { load });
}

const views = {
  overview: view(async () => (await import("./views/overview/overview.js")).Overview),
  explorer: view(async () => (await import("./views/explorer.js")).Explorer),
  topics: view(async () => (await import("./views/topics.js")).Topics),
  statement: view(async () => (await import("./views/statement.js")).StatementView),
  inventory: view(async () => (await import("./views/inventory.js")).Inventory),
  tags: view(async () => (await import("./views/tags.js")).Tags),
  rules: view(async () => (await import("./views/rules.js")).Rules),
  worklist: view(async () => (await import("./views/worklist.js")).Worklist),
  deliveries: view(async () => (await import("./views/deliveries.js")).Deliveries),
  runs: view(async () => (await import("./views/runs.js")).Runs),
  settings: view(async () => (await import("./views/settings/settings.js")).Settings),
};
const Explain = lazily(async () => (await import("./parts/explain.js")).Explain);
const WhySum = lazily(async () => (await import("./parts/why-sum.js")).WhySum);
const Dimension = lazily(async () => (await import("./parts/dimension.js")).DimensionLink);
const adminPages = {
  access: lazily(async () => (await import("./views/access.js")).Access),
  audit: lazily(async () => (await import("./views/audit.js")).Audit),
};
const Tenants = lazily(async () => (await import("./views/tenants.js")).Tenants);

function Console() {
  const place = useLocation();
  const route = viewOf(place.path);
  const why = place.query.get("why");
  const whySum = place.query.get("why_sum");
  const dimension = place.query.get("dimension");
  // `/me` also lists the tenants. `/tenants` looks at the store of each one, so only the list of tenants waits for it.
  const caller = useApi("/api/v1/me", {});
  // The session may have begun at the issuer: other tabs that wait for a sign-in use it as well.
  const hasSession = typeof caller.value?.session_id === "number";
  useEffect(() => {
    if (hasSession) signedIn();
  }, [hasSession]);
  const title =
    route?.view === undefined
      ? route?.page === undefined
        ? en.views.tenants
        : en.access.pages[route.page]
      : `${en.views[route.view]} · ${route.tenant}`;
  useEffect(() => {
    document.title = `${title} · ${en.product}`;
  }, [title]);
  return (
    <Shown data={caller} height="100vh">
      {(me) => {
        const View = route?.view && views[route.view];
        const Page = route?.page && adminPages[route.page];
        const isKnown = route?.tenant === undefined || me.tenants.includes(route.tenant);
        return (
          <SignedInCaller.Provider value={me}>
            <AllDigits.Provider value={hasAllDigits(place)}>
              <Frame
                place={place}
                tenants={me.tenants}
                tenant={isKnown ? route?.tenant : undefined}
                view={route?.view}
                hasPeriod={route?.view !== "deliveries" && route?.page === undefined}
              >
                <Guard key={place.path}>
                  <Suspense fallback={<div class="loading">{en.loading}</div>}>
                    {route === undefined || !isKnown ? (
                      <Empty
                        title={
                          route?.tenant === undefined ? en.frame.noSuchPage : en.signIn.noAccess(route.tenant)
                        }
                      >
                        {me.name !== null && <p>{en.signIn.noAccessAs(me.name)}</p>}
                        <p>
                          <Link href="/">{en.frame.home}</Link>
                        </p>
                      </Empty>
                    ) : View !== undefined && route.tenant !== undefined ? (
                      <View place={place} tenant={route.tenant} />
                    ) : Page !== undefined ? (
                      <Page place={place} />
                    ) : (
                      <Tenants place={place} />
                    )}
                  </Suspense>
                  {isKnown && View !== undefined && route?.tenant !== undefined && (
                    // Not inside the view: while a drawer loads, the view stays mounted and keeps its focus.
                    <Suspense fallback={null}>
                      {why !== null && <Explain key={why} place={place} tenant={route.tenant} why={why} />}
                      {whySum !== null && <WhySum place={place} tenant={route.tenant} sum={whySum} />}
                      {dimension !== null && (
                        <Dimension
                          key={dimension}
                          place={place}
                          tenant={route.tenant}
                          dimension={dimension}
                        />
                      )}
                    </Suspense>
                  )}
                </Guard>
              </Frame>
            </AllDigits.Provider>
          </SignedInCaller.Provider>
        );
      }}
    </Shown>
  );
}

function App() {
  return useSignInRequired() ? <SignIn /> : <Console />;
}

/** Error boundary: a view that cannot be rendered shows its error, and the rest of the page stays usable. */
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
        <FailureMessage error={this.state.error} />
      </>
    );
  }
}

copyExactAmounts();
const root = document.getElementById("root");
if (root !== null) render(<App />, root);

// Load the code of the first view in parallel with `/me`. If that fails, the view shows the error when it renders.
const first = viewOf(location.pathname)?.view;
if (first !== undefined) views[first].load().catch(() => undefined);
