import { generatePrivateKey, publicPart, readPrivateKey } from '#lib/config/secret-values.ts';
import { askedDigest, openAnswers, sealAnswers } from '#lib/federation/sealed-answers.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { keyThumbprint } from '#lib/jose/keys.ts';
import {
  createAcknowledgementSigner,
  readAcknowledgement,
} from '../services/peers/domain/acknowledgement.ts';
import { signPeerRequest, verifyPeerToken } from '../services/peers/domain/peer-token.ts';
import { bodyDigest } from '../services/peers/domain/signatures.ts';

/** CPU milliseconds of what makes a part safe, each done once for a part. */
export interface CryptoCost {
  seal: number;
  signRequest: number;
  verifyRequest: number;
  open: number;
  signReceipt: number;
  verifyReceipt: number;
}

const leader = 'http://localhost:8081';
const owner = 'http://localhost:8082';
const asked = {
  info: 'element/information/information.001/1.0',
  elements: ['element/processing/processing.001/1.0'],
};

/** Measures the very functions that the services call, in this process, with keys drawn for it. */
export async function measureCrypto(times: number): Promise<CryptoCost> {
  const [ours, theirs, sealing] = [drawKey(), drawKey(), drawKey()];
  const sid = randomId();
  const now = new Date();
  const content = { language: 'en', ...asked, answers: { [asked.elements[0] as string]: ['accepted'] } };
  const seal = async () => {
    const header = { sid, leader, digest: askedDigest(asked), exp: Math.ceil(now.getTime() / 1000) + 3_600 };
    const key = publicPart(sealing);
    return sealAnswers(content, { key: { ...key, kid: await keyThumbprint(key) }, header });
  };
  const sealed = await seal();
  const body = Buffer.from(JSON.stringify({ leader: { location: leader, id: sid }, subject: 'ann', sealed }));
  const request = { method: 'PUT', url: `${owner}/federation/submissions/${sid}`, body };
  const signRequest = async () =>
    signPeerRequest(request, { issuer: leader, audience: owner, key: ours, now });
  const token = await signRequest();
  const verifyRequest = () =>
    verifyPeerToken(
      token,
      { ...request, body: async () => body },
      { audience: owner, pinned: async () => publicPart(ours), now },
    );
  const sign = createAcknowledgementSigner(owner, theirs);
  const matter = { sid, digest: bodyDigest(body) };
  const signReceipt = async () =>
    sign({ verdict: 'committed', id: sid }, { ...matter, audience: leader }, now);
  const receipt = await signReceipt();
  const signing = [{ kid: theirs.kid, jwk: publicPart(theirs) }];
  const verifyReceipt = async () =>
    readAcknowledgement(receipt, matter, { url: owner, audience: leader, signing, since: now, now });
  const open = async () => openAnswers(sealed, { keys: [sealing], now });
  const isSound =
    (await verifyRequest()).valid && 'content' in (await verifyReceipt()) && (await open()).opened;
  if (!isSound) throw new Error('What was sealed and signed cannot be read.');
  return measureEach(times, { seal, signRequest, verifyRequest, open, signReceipt, verifyReceipt });
}

async function measureEach(
  times: number,
  functions: Record<keyof CryptoCost, () => Promise<unknown>>,
): Promise<CryptoCost> {
  const costs = {} as CryptoCost;
  for (const [name, run] of Object.entries(functions) as [keyof CryptoCost, () => Promise<unknown>][]) {
    for (let warm = 0; warm < times / 5; warm += 1) await run();
    const before = process.cpuUsage();
    for (let time = 0; time < times; time += 1) await run();
    const { user, system } = process.cpuUsage(before);
    costs[name] = (user + system) / 1000 / times;
  }
  return costs;
}

function drawKey() {
  return readPrivateKey(generatePrivateKey());
}
