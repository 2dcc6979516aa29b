-- What allocation decides by, and what tags hang on.

-- One row per tier of a product's rule. Rows of a rule set never change: a changed configuration makes a new hash, so a
-- statement that names its hash always sees one whole rule set.
CREATE TABLE IF NOT EXISTS allocation_rules
(
    rules_hash        String                                COMMENT 'hash of the whole rule set',
    product_type      LowCardinality(String)                COMMENT 'product the rule is for; * for products without one',
    component         UInt8                                 COMMENT 'part of the line, from 0',
    component_ratio   String                                COMMENT 'share of the line that the component takes',
    ratio_from        UInt32                                COMMENT 'start of the share, in millionths of the line',
    ratio_to          UInt32                                COMMENT 'end of the share, in millionths of the line',
    tier              UInt8                                 COMMENT 'order in which tiers are tried, from 0',
    kind              LowCardinality(String)                COMMENT 'usage, even, owner or terminal',
    sources           Array(LowCardinality(String))         COMMENT 'metrics (usage) or scopes of identity sets (even, owner)',
    set_of            LowCardinality(String)                COMMENT 'resource or tenant: whose identity sets count',
    allocation_detail LowCardinality(String)                COMMENT 'detail written on rows of this tier'
)
ENGINE = MergeTree
ORDER BY (rules_hash, product_type, component, tier)
COMMENT 'How each product type is allocated: components, and for each a chain of tiers';

CREATE TABLE IF NOT EXISTS dimensions
(
    dimension_id     UInt64                                 COMMENT 'id by hash of the fields, 53 bits',
    fingerprint      UInt128                                COMMENT 'wider hash of the fields: tells a collision from a repetition',
    ecosystem        LowCardinality(String)                 COMMENT 'kind of upstream',
    tenant_id        LowCardinality(String)                 COMMENT 'billing boundary',
    env_id           LowCardinality(String)                 COMMENT 'environment of the resource',
    resource_id      LowCardinality(String)                 COMMENT 'what was paid for',
    product_category LowCardinality(String)                 COMMENT 'family of the product',
    product_type     LowCardinality(String)                 COMMENT 'product as the bill names it',
    identity_id      LowCardinality(String)                 COMMENT 'who pays',
    cost_type        LowCardinality(String)                 COMMENT 'usage or shared',
    recorded_at      DateTime64(6, 'UTC') DEFAULT now64(6)  COMMENT 'when it was first written: of two that collide, the older keeps the id'
)
ENGINE = ReplacingMergeTree
ORDER BY (dimension_id, fingerprint)
COMMENT 'One row per dimension that chargebacks were ever written for';

CREATE TABLE IF NOT EXISTS dimension_collisions
(
    fingerprint  UInt128                                    COMMENT 'dimension whose plain id was taken',
    dimension_id UInt64                                     COMMENT 'id it was given instead, by hashing with a salt',
    salt         UInt16                                     COMMENT 'salt that gave it'
)
ENGINE = ReplacingMergeTree
ORDER BY fingerprint
COMMENT 'Dimensions whose id is not their plain hash; nearly always empty';

CREATE TABLE IF NOT EXISTS dimension_tags
(
    dimension_id UInt64                                     COMMENT 'dimension the tag hangs on',
    tag_id       UInt64                                     COMMENT 'id of the tag',
    tag_key      String                                     COMMENT 'key of the tag',
    display_name String                                     COMMENT 'name of the tag as people read it',
    is_deleted   UInt8                                      COMMENT '1 when the tag was removed',
    version      UInt64                                     COMMENT 'grows with each change'
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (dimension_id, tag_id)
COMMENT 'Mirror of the tags in Postgres, for reading beside chargebacks';
