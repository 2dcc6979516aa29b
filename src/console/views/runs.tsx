/** Days with their states, runs, and a button to start a run. */
import { useEffect, useRef } from "preact/hooks";
import { addDays } from "../../common/days.js";
import { api, bodyOf, type Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import { HealthBadge, useReadiness } from "../parts/health.js";
import { FailureMessage, Shown } from "../parts/messages.js";
import { RequireScope } from "../parts/require-scope.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { dayCount, shownDay, shownInstant } from "../state/days.js";
import type { Place } from "../state/location.js";
import { type Period, periodOf, periodParameters } from "../state/period.js";
import { useChange } from "../state/use-change.js";
import { reloadAll } from "../state/use-data.js";
import { en } from "../text/en.js";

const text = en.runs;
type Run = Schemas["PipelineRun"];
type Day = Schemas["TrackingDate"];

/** How often a running run is polled. */
const WATCH_MS = 1500;

export function Runs({ place, tenant }: { readonly place: Place; readonly tenant: string }) {
  const period = periodOf(place);
  const path = { tenant_name: tenant };
  const runs = useApi("/api/v1/tenants/{tenant_name}/pipeline/runs", { path, query: { page_size: 50 } });
  const query = periodParameters(period);
  const days = useApi("/api/v1/tenants/{tenant_name}/status", { path, query });
  const current = runs.value?.items.find(({ ended_at }) => ended_at === null);
  const readiness = useReadiness();
  const state = readiness.value?.find(({ tenant_name }) => tenant_name === tenant);
  const isWatched = useRef(false);
  useEffect(() => {
    if (current === undefined) {
      // The run has ended. Its results affect all views.
      if (isWatched.current) reloadAll();
      isWatched.current = false;
      return;
    }
    isWatched.current = true;
    const timer = setTimeout(() => {
      runs.reload();
      days.reload();
      readiness.reload();
    }, WATCH_MS);
    return () => clearTimeout(timer);
  }, [runs.value, runs.error]);
  return (
    <>
      <div class="title">
        <h1>{text.title}</h1>
        {state === undefined ? <span class="health">{"\u00a0"}</span> : <HealthBadge tenant={state} />}
        <span class="spring" />
        <RequireScope scope="run">
          <RunNow tenant={tenant} current={current} started={runs.reload} />
        </RequireScope>
      </div>
      {current !== undefined && <Progress run={current} />}
      <section class="card">
        <h2>{text.days}</h2>
        <Shown data={days} height="6rem">
          {(items) => <Coverage period={period} days={items} />}
        </Shown>
      </section>
      {(days.value ?? days.error) !== undefined && (
        <section class="card">
          <h2>{text.runs}</h2>
          <Shown data={runs}>
            {({ items }) =>
              items.length === 0 ? (
                <p class="hint">{en.overview.neverRan}</p>
              ) : (
                <DataTable
                  caption={text.runs}
                  columns={runColumns}
                  rows={items}
                  keyOf={({ run_id }) => run_id}
                />
              )
            }
          </Shown>
        </section>
      )}
    </>
  );
}

interface RunNowProps {
  readonly tenant: string;
  readonly current: Run | undefined;
  readonly started: () => void;
}

function RunNow({ tenant, current, started }: RunNowProps) {
  const { error, isBusy, change } = useChange();
  const params = { path: { tenant_name: tenant } };
  const run = () => bodyOf(api.POST("/api/v1/tenants/{tenant_name}/pipeline/run", { params }));
  return (
    <span class="run-now">
      {current !== undefined && (
        <span role="status" class="running">
          {text.running(current.status)}
        </span>
      )}
      <button type="button" disabled={isBusy || current !== undefined} onClick={() => change(run, started)}>
        {text.now}
      </button>
      {error !== undefined && <FailureMessage error={error} />}
    </span>
  );
}

const stages = ["gathering", "calculating", "publishing", "emitting"] as const;

/** The stages of a run, the current stage, and the progress. */
function Progress({ run }: { readonly run: Run }) {
  const at = run.stage === null ? -1 : stages.indexOf(run.stage);
  return (
    <section class="card" aria-label={text.progress}>
      <ol class="stages">
        {stages.map((stage, index) => (
          <li
            key={stage}
            class={index < at ? "done" : undefined}
            aria-current={index === at ? "step" : undefined}
          >
            {text.stages[stage]}
          </li>
        ))}
      </ol>
      <p>
        {text.done(run.dates_calculated, run.dates_pending, run.chargeback_rows_written)}
        {run.stage_date !== null && <span class="hint"> {text.currentDay(shownDay(run.stage_date))}</span>}
      </p>
    </section>
  );
}

/** One cell for each day of the period, also for days without a state. */
function Coverage({ period, days }: { readonly period: Period; readonly days: readonly Day[] }) {
  const known = new Map(days.map((day) => [day.tracking_date, day]));
  const all = Array.from({ length: Math.min(dayCount(period.first, period.last), 800) }, (_, index) =>
    addDays(period.first, index),
  );
  const troubled = days.filter(({ error, lacks }) => error !== null || lacks.length > 0);
  return (
    <>
      <ol class="coverage">
        {all.map((date) => {
          const day = known.get(date);
          const state = day === undefined ? "unknown" : day.provisional ? "provisional" : day.state;
          return (
            <li key={date} class={`day ${state}`} title={`${shownDay(date)}: ${text.states[state]}`}>
              <span class="unseen">
                {shownDay(date)}: {text.states[state]}
              </span>
            </li>
          );
        })}
      </ol>
      <ul class="legend whole">
        {Object.entries(text.states).map(([state, title]) => (
          <li key={state}>
            <span class={`day ${state}`} aria-hidden="true" /> <span>{title}</span>
          </li>
        ))}
      </ul>
      {troubled.length > 0 && (
        <ul class="troubles">
          {troubled.map((day) => (
            <li key={day.tracking_date}>
              <strong>{shownDay(day.tracking_date)}</strong>:{" "}
              {[...(day.error === null ? [] : [day.error]), ...day.lacks].join("; ")}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const runColumns: TableColumn<Run>[] = [
  {
    key: "started",
    title: text.started,
    cell: ({ started_at }) => <time dateTime={started_at}>{shownInstant(started_at)}</time>,
  },
  { key: "trigger", title: text.trigger, cell: ({ trigger }) => trigger },
  {
    key: "status",
    title: text.status,
    leads: true,
    cell: ({ status }) => <span class={`status ${status}`}>{status.replaceAll("_", " ")}</span>,
  },
  {
    key: "took",
    title: text.took,
    isNumber: true,
    cell: ({ started_at, ended_at }) => (ended_at === null ? "" : `${seconds(started_at, ended_at)} s`),
  },
  {
    key: "gathered",
    title: text.gathered,
    isNumber: true,
    cell: ({ dates_gathered }) => dates_gathered.toLocaleString("en"),
  },
  {
    key: "calculated",
    title: text.calculated,
    isNumber: true,
    cell: ({ dates_calculated }) => dates_calculated.toLocaleString("en"),
  },
  {
    key: "rows",
    title: en.overview.rows,
    isNumber: true,
    cell: ({ chargeback_rows_written }) => chargeback_rows_written.toLocaleString("en"),
  },
  {
    key: "errors",
    title: text.errors,
    cell: ({ errors, notes }) => (
      <>
        <Sentences
          title={text.errorCount(errors.length)}
          sentences={errors.map(({ date, source, message }) =>
            [date, source, message].filter((part) => part !== null).join(": "),
          )}
        />
        <Sentences title={text.noteCount(notes.length)} sentences={notes} />
      </>
    ),
  },
];

function Sentences({ title, sentences }: { readonly title: string; readonly sentences: readonly string[] }) {
  return sentences.length === 0 ? null : (
    <details>
      <summary>{title}</summary>
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </details>
  );
}

const seconds = (from: string, to: string) => ((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1);
