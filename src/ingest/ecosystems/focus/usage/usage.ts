/** Usage of a `focus` tenant: measured by Prometheus, and uploaded by people. */
import type { DayRange } from "../../../../common/days.js";
import type { PluginSettings } from "../../../../config/settings/plugin-settings.js";
import type { GatherContext, Gatherer, GatherStore, WindowSink } from "../../../ecosystem.js";
import type { RangeResponse } from "../../../prometheus/source.js";
import type { WindowReport } from "../../../reports.js";
import { coverDigest, sendUploaded, uploadedDays } from "../../../usage-uploads/in-effect.js";
import { type BillOfWindow, billedSpellings } from "./billed-spelling.js";
import { connectQueries, type QueriedUsage } from "./queries.js";
import type { UsageSettings } from "./settings.js";
import { type FolderReport, openUploadFolder } from "./upload-folder.js";

/** Plain JSON. */
export interface UsageResponses {
  readonly queried: readonly RangeResponse[];
  /** Digest of the uploads that count. */
  readonly uploaded: string;
}

export interface FocusUsage {
  readonly report: Pick<WindowReport, "dropped" | "notes" | "refused">;
  readonly responses: UsageResponses;
}

export type UsageStore = GatherStore & { readonly tenantName: string };

export interface Usage {
  /** Methods that exist only if Prometheus is queried. */
  readonly ofQueries: Partial<Pick<Gatherer, "probe" | "retentionCovers">>;
  /** Takes new files of the folder, before the windows are gathered. */
  takeFiles(store: UsageStore, signal: AbortSignal): Promise<FolderReport>;
  /** Runs after the bill of the window, which consists of these deliveries. */
  gather(store: UsageStore, bill: BillOfWindow, sink: WindowSink, signal: AbortSignal): Promise<FocusUsage>;
  isUnchanged(
    store: UsageStore,
    window: DayRange,
    responses: UsageResponses,
    signal: AbortSignal,
  ): Promise<boolean>;
  close(): Promise<void>;
}

const NO_QUERIES: QueriedUsage = { responses: [], dropped: {} };

export function connectUsage(
  settings: PluginSettings & { readonly usage: UsageSettings },
  context: GatherContext,
): Usage {
  const queries = connectQueries(settings, context);
  const folder = openUploadFolder(settings.usage);
  const { metrics } = settings.usage.uploads;
  return {
    ofQueries:
      queries === undefined ? {} : { probe: queries.probe, retentionCovers: queries.retentionCovers },
    takeFiles: (store, signal) => folder.takeFiles(store, signal),
    async gather(store, bill, sink, signal) {
      const { window } = bill;
      const { responses: queried, ...report } =
        queries === undefined
          ? NO_QUERIES
          : await queries.gather(window, await billedSpellings(store.client, bill, signal), sink, signal);
      const covered = await uploadedDays(store, window, metrics);
      await sendUploaded(store, covered, sink, signal);
      return { report, responses: { queried, uploaded: coverDigest(covered) } };
    },
    async isUnchanged(store, window, { queried, uploaded }, signal) {
      if (coverDigest(await uploadedDays(store, window, metrics)) !== uploaded) return false;
      return queries === undefined || (await queries.isUnchanged(queried, signal));
    },
    async close() {
      queries?.close();
      await folder.close();
    },
  };
}
