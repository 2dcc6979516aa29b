-- Most of the time nothing is being published, and then the bill is just the table `billing`. Whoever reads this view says that it is so
-- and learns when it is not: the engine counts what is announced before it reads, and refuses the statement if there is anything
-- (docs/decisions/0032-one-step-for-readers.md).

CREATE OR REPLACE VIEW settled_billing
AS SELECT * FROM billing
WHERE NOT (SELECT throwIf(count() > 0, 'days are being published: read published_billing') FROM publishing_days)
COMMENT 'The bill in the columns of billing; an error while days are being published';
