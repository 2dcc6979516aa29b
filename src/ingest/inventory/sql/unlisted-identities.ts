/** Those of some ids that no upstream ever listed. $1 tenant_name, $2 identity ids. */
export const UNLISTED_IDENTITIES = `
  SELECT id FROM unnest($2::text[]) AS charged (id)
  WHERE NOT EXISTS (
    SELECT FROM identities WHERE tenant_name = $1 AND identity_id = id AND identity_type <> 'charged'
  )`;
