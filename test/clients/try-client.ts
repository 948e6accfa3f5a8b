import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { findProgram } from '../infrastructure/programs.ts';
import { readPublishedContract } from '../support/contract/contract.ts';
import type { Client } from './clients.ts';
import { createWorkshop, ProgramFailed, runProgram } from './workshop.ts';

export interface Result extends Pick<Client, 'name' | 'version'> {
  /** `yes`, the step that failed, or the program that is missing. */
  outcome: string;
  isFailed: boolean;
  /** What was said about it. */
  said: string;
}

/** Makes a client in a folder, compiles it, and lets it go through the flow with an instance. */
export async function tryClient(client: Client, url: string, folder: string): Promise<Result> {
  const { name, version, needs, stages, flow } = client;
  const missing = needs.filter((program) => findProgram(program) === undefined).join(', ');
  if (missing) {
    const said = `NOT TRIED: ${missing} not found on PATH`;
    return { name, version, outcome: `not tried: no ${missing}`, isFailed: process.env.CI === 'true', said };
  }
  const own = path.join(folder, name);
  await mkdir(own);
  let step = 'install';
  try {
    for (const [stage, make] of Object.entries(stages)) {
      step = stage;
      await make(createWorkshop(own));
    }
    step = 'run';
    await runProgram(flow, { cwd: own, env: await environmentOf(url) });
    return { name, version, outcome: 'yes', isFailed: false, said: 'yes' };
  } catch (error) {
    const output = error instanceof ProgramFailed ? error.output : '';
    step = [...output.matchAll(/^step (\w+)$/gm)].at(-1)?.[1] ?? step;
    const said = `no: ${step}: ${(error as Error).message}\n${output.slice(-4_000)}`;
    return { name, version, outcome: `no: ${step}`, isFailed: true, said };
  }
}

/** Tokens are valid for five minutes, so each client has its own. */
async function environmentOf(url: string): Promise<Record<string, string>> {
  const form = { grant_type: 'password', client_id: 'accord', username: 'operator', password: 'demo' };
  const response = await fetch(`${url}/auth`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return {
    ACCORD_URL: url,
    ACCORD_TOKEN: token,
    ACCORD_SUBJECT: `client-${crypto.randomUUID()}`,
    ACCORD_EVENT: JSON.stringify(exampleEvent()),
  };
}

/** The body of a request to a webhook, as the contract has it. */
function exampleEvent(): object {
  const { ConsentEvent: found } = readPublishedContract().components.examples as Record<
    string,
    { value: object }
  >;
  if (!found) throw new Error('openapi.yaml has no example of a ConsentEvent');
  return found.value;
}
