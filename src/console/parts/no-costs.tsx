import { viewPath } from "../state/paths.js";
import { en } from "../text/en.js";
import { Link } from "./link.js";
import { Empty } from "./messages.js";

/** Replaces a view if its period has no costs, and links to the runs, which show why. */
export function NoCosts({ tenant }: { readonly tenant: string }) {
  return (
    <Empty title={en.overview.noCosts}>
      <p>{en.overview.noCostsHint}</p>
      <Link href={viewPath(tenant, "runs")}>{en.views.runs}</Link>
    </Empty>
  );
}
