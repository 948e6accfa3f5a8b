import { createPrivateKey, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { generatePrivateKey, readPrivateKey } from '#lib/config/secret-values.ts';
import { checkpointText, readCheckpointText, readUpdate, writeUpdate } from '#lib/witness/checkpoint-note.ts';
import { cosign, isCosignature } from '#lib/witness/cosignature.ts';
import { isSignedBy, noteKey, noteTypes, readNote, readNoteKey, signNote } from '#lib/witness/note.ts';
import { createNoteSigner } from '#lib/witness/note-signer.ts';

/** The key and the note that the specification prints (c2sp.org/signed-note). */
const printedKey = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const printedNote = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;
const note = (text: string) => readNote(text) ?? expect.fail('not a note');
const key = (text: string) => readNoteKey(text) ?? expect.fail('not a key');

const draw = () => readPrivateKey(generatePrivateKey());
const root = Buffer.alloc(32, 7);
const head = { origin: 'example.com/log', size: 12, root };

describe('signed notes', () => {
  it('are those of the specification', () => {
    expect(isSignedBy(note(printedNote), [key(printedKey)])).toBe(true);
    expect(isSignedBy(note(printedNote.replace('example message', 'other message')), [key(printedKey)])).toBe(
      false,
    );
    expect(isSignedBy(note(printedNote), [])).toBe(false);
    expect(key(printedKey).vkey).toBe(printedKey);
    for (const wrong of [
      'example.com/foo',
      printedKey.replace('530d', '530e'),
      `${printedKey}A`,
      `a ${printedKey}`,
    ])
      expect(readNoteKey(wrong)).toBeUndefined();
    for (const wrong of [
      'text\n',
      'text\n\n— name\n',
      printedNote.replace('Uw2Q', 'Uw2'),
      printedNote.slice(0, -1),
    ])
      expect(readNote(wrong)).toBeUndefined();
  });

  it('are signed by all keys of an instance, so that an earlier one verifies them after a rotation', () => {
    const [older, newer] = [draw(), draw()];
    const before = createNoteSigner('https://consent.example.org', [older]);
    const after = createNoteSigner('https://consent.example.org', [newer, older]);
    const signed = note(after.signHead('auth', { size: 12, root }));
    expect(signed.text.split('\n')[0]).toBe('consent.example.org/auth');
    for (const signer of [before, after])
      expect(isSignedBy(signed, signer.logKeys('auth').map(key))).toBe(true);
    expect(isSignedBy(signed, before.logKeys('models').map(key))).toBe(false);
    expect(before.witnessKeys[0]).toBe(after.witnessKeys[1]);
    const line = after.cosign(signed.text, new Date('2026-05-03T10:00:00Z'));
    expect(isCosignature(line, signed.text, key(after.witnessKeys[0] ?? ''))).toBe(true);
    expect(isCosignature(line, signed.text, key(before.witnessKeys[0] ?? ''))).toBe(false);
    expect(isCosignature(line, signed.text.replace('12', '13'), key(after.witnessKeys[0] ?? ''))).toBe(false);
  });

  it('of a witness verify with its key also if it is published as that of a log', () => {
    const seed = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, 3)]);
    const privateKey = createPrivateKey({ key: seed, format: 'der', type: 'pkcs8' });
    const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
    const raw = Buffer.from(x, 'base64url');
    const witness = noteKey('witness.example/w1', noteTypes.cosignature, raw);
    const line = cosign(checkpointText(head), new Date(), { key: witness, privateKey });
    const published = readNoteKey(
      noteKey('witness.example/w1', noteTypes.log, raw).vkey,
      noteTypes.cosignature,
    );
    expect(isCosignature(line, checkpointText(head), published ?? witness)).toBe(true);
    // The signature of a log says nothing of a time.
    const asLog = signNote(checkpointText(head), witness, privateKey);
    expect(isCosignature(asLog, checkpointText(head), witness)).toBe(false);
  });
});

describe('what a log sends to a witness', () => {
  it('is read as it was written', () => {
    const update = {
      old: 8,
      proof: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
      note: `${checkpointText(head)}\n— a b\n`,
    };
    expect(readUpdate(writeUpdate(update))).toEqual(update);
    expect(readCheckpointText(checkpointText(head))).toEqual(head);
  });

  it('is refused if it is anything else', () => {
    const text = checkpointText(head);
    for (const wrong of [
      '',
      'old 8\n',
      'old 08\n\nnote',
      'old -1\n\nnote',
      'new 8\n\nnote',
      'old 8\nAAAA\n\nnote',
    ])
      expect(readUpdate(wrong)).toBeUndefined();
    expect(readUpdate(`old 8\n${`${root.toString('base64')}\n`.repeat(64)}\nnote`)).toBeUndefined();
    for (const wrong of [
      text.replace('12', '012'),
      text.replace('example.com/log', ''),
      'a\n1\nAAAA\n',
      `${text}\n`,
    ])
      expect(readCheckpointText(wrong)).toBeUndefined();
  });
});
