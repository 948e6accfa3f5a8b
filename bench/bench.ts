// `npm run bench`: what one process costs, beside a bare server (run.ts). `npm run bench -- <name> [options]`
// runs another benchmark of this folder.
const programs: Readonly<Record<string, string>> = {
  // The full flow against this checkout and another one.
  beside: './beside.ts',
  // Separate services, with Kafka and Redis.
  distributed: './distributed.ts',
  // A consent by one call, beside a bare server and another product.
  recorded: './recorded.ts',
  // Withdrawals at a fixed rate.
  withdrawals: './withdrawals.ts',
  // Among few and among many records.
  records: './records.ts',
  // Every operation among few and among many records.
  operations: './operations.ts',
  // Two instances that are peers; a peer that makes trouble.
  peers: './peers.ts',
  trouble: './peers-trouble.ts',
  // Many connections of one address, beside others.
  stranger: './stranger.ts',
  overload: './overload.ts',
  // The CPU of every operation and page.
  costs: './costs.ts',
  console: './console.ts',
  // Decisions, and whether they are the same when they are taken again.
  decisions: './decisions.ts',
  again: './decisions-again.ts',
  // Answers of another system, and what submissions wait meanwhile.
  import: './import.ts',
  // The page of a person, and what the request for a link tells.
  choices: './choices.ts',
  // An instance as a witness of the logs of others.
  witness: './witness.ts',
};

const [name = ''] = process.argv.slice(2);
if (name !== '' && !name.startsWith('-') && !Object.hasOwn(programs, name)) {
  process.stderr.write(`There is no benchmark ${name}, only ${Object.keys(programs).join(', ')}.\n`);
  process.exit(1);
}
if (Object.hasOwn(programs, name)) process.argv.splice(2, 1);
await import(programs[name] ?? './run.ts');
