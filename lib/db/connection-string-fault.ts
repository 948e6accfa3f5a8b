import pg from 'pg';

/** Why pg cannot read a connection string, or the certificates that it names; never with the string, which has a password. */
export function connectionStringFault(text: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(text)) return 'it begins otherwise';
  try {
    new pg.Client({ connectionString: text });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
