/** Settings of a tenant: access, uploads of usage, the FOCUS export and the SQL port. */
import { addressOf, tenantPath } from "../../api/breakdown.js";
import type { Schemas } from "../../api/client.js";
import { useApi } from "../../api/use-api.js";
import { Choice } from "../../parts/controls.js";
import { Copied } from "../../parts/copied.js";
import { Download } from "../../parts/download.js";
import { AdminLinks, useIsAdmin } from "../../parts/menu.js";
import { Shown } from "../../parts/messages.js";
import { shownPeriod } from "../../parts/period-picker.js";
import { changed, go, type Place } from "../../state/location.js";
import { periodOf, periodParameters } from "../../state/period.js";
import { en } from "../../text/en.js";
import { Uploads } from "./uploads.js";

const text = en.settings;

interface ViewProps {
  readonly place: Place;
  readonly tenant: string;
}

export function Settings({ place, tenant }: ViewProps) {
  return (
    <>
      <div class="title">
        <h1>{en.views.settings}</h1>
      </div>
      {useIsAdmin() && (
        <section class="card">
          <h2>{text.access}</h2>
          <p class="hint">{text.accessHint}</p>
          <p class="controls">
            <AdminLinks place={place} />
          </p>
        </section>
      )}
      <Uploads place={place} tenant={tenant} />
      <FocusExport place={place} tenant={tenant} />
      <SqlPort tenant={tenant} />
    </>
  );
}

const formats = Object.entries(text.formats);
const versions = ["1.4", "1.2"];

function FocusExport({ place, tenant }: ViewProps) {
  const { query } = place;
  const format = query.get("format") === "focus_parquet" ? "focus_parquet" : "focus";
  const version = versions.find((each) => each === query.get("focus_version")) ?? "1.4";
  const period = periodOf(place);
  const days = { ...periodParameters(period), focus_version: version };
  const file = addressOf(`${tenantPath(tenant)}/export`, { format, ...days });
  const command = `curl -H "Authorization: Bearer $TOKEN" -OJ "${location.origin}${file}"`;
  return (
    <section class="card">
      <h2>
        {text.focus} <span class="hint">{shownPeriod(period)}</span>
      </h2>
      <p class="hint">{text.focusHint}</p>
      <p class="controls">
        <Choice
          label={text.format}
          value={format}
          options={formats}
          onChoose={(next) => go(changed(place, { format: next === "focus" ? undefined : next }))}
        />
        <Choice
          label={text.version}
          value={version}
          options={versions.map((each) => [each, each])}
          onChoose={(next) => go(changed(place, { focus_version: next }))}
        />
        <Download href={file}>{text.download}</Download>
        <Download href={addressOf(`${tenantPath(tenant)}/export/focus-metadata`, days)}>
          {text.metadata}
        </Download>
      </p>
      <p class="hint">{text.command}</p>
      <Copied lines={command} />
    </section>
  );
}

function SqlPort({ tenant }: Pick<ViewProps, "tenant">) {
  const data = useApi("/api/v1/tenants/{tenant_name}/sql-port", { path: { tenant_name: tenant } });
  return (
    <section class="card">
      <h2>{text.sql}</h2>
      <Shown data={data}>
        {(port) =>
          port.is_open ? (
            <OpenPort port={port} />
          ) : (
            <p>{port.is_embedded ? text.sqlClosed : text.sqlServer}</p>
          )
        }
      </Shown>
    </section>
  );
}

/** Addresses that mean every interface. */
const everywhere = ["0.0.0.0", "::"];

function OpenPort({ port: { host, port, database, tls } }: { readonly port: Schemas["SqlPort"] }) {
  const reached = host === null || everywhere.includes(host) ? location.hostname : host;
  const url = `${tls ? "https" : "http"}://${reached.includes(":") ? `[${reached}]` : reached}:${port}/?database=${database}`;
  const query =
    "SELECT team, currency, sum(total_amount) AS cost FROM daily_cost_by_team GROUP BY ALL ORDER BY currency, cost DESC";
  const shown = [
    [text.host, reached],
    [text.port, String(port)],
    [text.database, database],
    [text.tls, tls ? text.yes : text.no],
  ] as const;
  return (
    <>
      <p class="hint">{text.sqlHint}</p>
      <dl class="sums narrow">
        {shown.map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      <Copied
        lines={`curl -u "$SQL_USER" "${url}&default_format=PrettyCompact" --data-binary \\\n  '${query}'`}
      />
    </>
  );
}
