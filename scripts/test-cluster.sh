#!/bin/sh
# Runs the tests of the store on real ClickHouse servers: two shards of two replicas, by Docker Compose. To use your own
# servers, set CLICKHOUSE_URL and CLICKHOUSE_CLUSTER and run the same files with npm test.
set -eu
cd "$(dirname "$0")/.."
export CLICKHOUSE_PASSWORD="${CLICKHOUSE_PASSWORD:-cluster}"
compose="docker compose --file deploy/compose/cluster.yaml"
trap '$compose down --volumes' EXIT
$compose up --detach --wait
for shard in 1 2; do
  CLICKHOUSE_URL="clickhouse://chargehouse:$CLICKHOUSE_PASSWORD@127.0.0.1:181${shard}1,127.0.0.1:181${shard}2" \
  CLICKHOUSE_CLUSTER="shard_$shard" \
    npm test -- \
      test/clickhouse/battery.test.ts test/domain/fact-tables.test.ts \
      test/ingest/assign-lines.test.ts \
      test/allocate/money.test.ts test/allocate/allocate-days.test.ts \
      test/query/views.test.ts test/query/group-by-codes.test.ts \
      test/runner/tenant-run.test.ts test/runner/one-step.test.ts test/runner/retention.test.ts \
      test/runner/provisional.test.ts test/runner/topic-attribution.test.ts test/runner/focus-uploads.test.ts
done
