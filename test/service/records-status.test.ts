import { describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, runInDatabase } from '../support/instances/live-database.ts';
import { activateContent, makeLiveModel, withdrawModel } from '../support/instances/live-models.ts';
import { recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));

const letter = 'element/processing/processing.001/1.0';
const wishes = 'element/preference/preference.003/1.0';
const season = 'element/conditions/conditions.001/1.0';

const content = { en: sampleContent.processing };
const makeElement = () => makeLiveModel(admin, 'processing', content);
const identifier = (key: string, serial = '1.0') => `element/processing/${key}/${serial}`;
/** Status and explanation of each record about an element, newest first. */
const statusesOf = async (subject: string, key: string) =>
  (await recordsOf(operator, subject))[key]?.map(
    ({ status, statusExplanation }) => `${status} ${statusExplanation}`,
  );

describe('an answer', () => {
  it('is VALID while it is the latest, and OBSOLETE afterwards', async () => {
    await recordAnswers(operator, 'ann', { [letter]: ['accepted'] });
    expect(await statusesOf('ann', 'processing.001')).toEqual(['VALID LATEST_VALID']);
    await recordAnswers(operator, 'ann', { [letter]: ['refused'] });
    expect(await statusesOf('ann', 'processing.001')).toEqual(['VALID LATEST_VALID', 'OBSOLETE OBSOLETE']);
  });

  it('replaces no answer about another object, element or subject', async () => {
    await recordAnswers(operator, 'ben', { [letter]: ['accepted'] });
    await recordAnswers(operator, 'ben', { [letter]: ['refused'] }, { object: 'account 7' });
    await recordAnswers(operator, 'ben', { [wishes]: ['An aisle seat'] });
    await recordAnswers(operator, 'Ben', { [letter]: ['refused'] });
    const records = Object.values(await recordsOf(operator, 'ben')).flat();
    expect(records.map(({ status }) => status)).toEqual(['VALID', 'VALID', 'VALID']);
  });

  it('stays VALID while a transaction that could change it is open', async () => {
    await recordAnswers(operator, 'cleo', { [letter]: ['accepted'] });
    const layoutData = { elements: ['processing.001'] };
    await operator.send('POST', '/consents', { subject: 'cleo', layoutData, attributes: { again: 'yes' } });
    expect(await statusesOf('cleo', 'processing.001')).toEqual(['VALID LATEST_VALID']);
  });
});

describe('an answer to what has changed since', () => {
  it('stays VALID after a MINOR, and is asked again at once after a MAJOR', async () => {
    const element = await makeElement();
    await recordAnswers(operator, 'dora', { [identifier(element.key)]: ['accepted'] });
    await activateContent(admin, element, content, 'MINOR');
    expect(await statusesOf('dora', element.key)).toEqual(['VALID LATEST_VALID']);
    await activateContent(admin, element, content, 'MAJOR');
    expect(await statusesOf('dora', element.key)).toEqual(['IRRELEVANT BODY_SERIAL_ARCHIVED']);
    await recordAnswers(operator, 'dora', { [identifier(element.key, '2.0')]: ['refused'] });
    expect(await statusesOf('dora', element.key)).toEqual([
      'VALID LATEST_VALID',
      'IRRELEVANT BODY_SERIAL_ARCHIVED',
    ]);
  });

  it('is irrelevant when the element is archived', async () => {
    const element = await makeElement();
    await recordAnswers(operator, 'emil', { [identifier(element.key)]: ['accepted'] });
    await withdrawModel(admin, element);
    expect(await statusesOf('emil', element.key)).toEqual(['IRRELEVANT BODY_SERIAL_ARCHIVED']);
  });

  it('is irrelevant when the element is deleted', async () => {
    const element = await makeElement();
    await recordAnswers(operator, 'fay', { [identifier(element.key)]: ['accepted'] });
    expect((await admin.send('DELETE', `/models/${element.id}`)).status).toBe(204);
    expect(await statusesOf('fay', element.key)).toEqual(['IRRELEVANT ENTRY_DELETED']);
  });

  it('is asked again when the information has a new MAJOR', async () => {
    const information = await makeLiveModel(admin, 'information', { en: sampleContent.information });
    const layoutData = { info: information.key, elements: ['processing.001'] };
    await recordAnswers(operator, 'gus', { [letter]: ['accepted'] }, { layoutData });
    await activateContent(admin, information, { en: sampleContent.information }, 'MINOR');
    expect(await statusesOf('gus', 'processing.001')).toEqual(['VALID LATEST_VALID']);
    await activateContent(admin, information, { en: sampleContent.information }, 'MAJOR');
    expect(await statusesOf('gus', 'processing.001')).toEqual(['IRRELEVANT INFO_SERIAL_ARCHIVED']);
  });
});

describe('an answer that is not committed', () => {
  const write = async (subject: string, state: string) => {
    await runInDatabase(
      instance,
      `UPDATE transactions.records SET state = $2, committed_at = NULL, from_position = NULL, from_at = NULL
        WHERE subject = $1 AND value[1] = 'refused'`,
      [subject, state],
    );
    await runInDatabase(
      instance,
      `UPDATE transactions.records SET until_position = NULL, until_at = NULL, ended_by = NULL
        WHERE subject = $1 AND value[1] <> 'refused'`,
      [subject],
    );
  };

  it.each([
    ['PENDING', 'STILL_PENDING'],
    ['ROLLED_BACK', 'ROLLED_BACK'],
  ])('in state %s is not effective, and leaves the one before valid', async (state, explanation) => {
    await recordAnswers(operator, state, { [letter]: ['accepted'] });
    await recordAnswers(operator, state, { [letter]: ['refused'] });
    await write(state, state);
    expect(await statusesOf(state, 'processing.001')).toEqual([
      `IRRELEVANT ${explanation}`,
      'VALID LATEST_VALID',
    ]);
    const page = await recordsOf(operator, state, `&states=${state}`);
    expect(page['processing.001']).toMatchObject([{ state, value: 'refused' }]);
  });
});

describe('when time passes', () => {
  it('answers expire by the calendar, and acceptance of conditions never does', async () => {
    await recordAnswers(operator, 'hope', { [letter]: ['accepted'] }, { validity: 'P1M' });
    await recordAnswers(operator, 'hope', { [wishes]: ['A later start'] });
    await recordAnswers(operator, 'hope', { [season]: ['accepted'] });
    // A longer answer does not come back when the one that took its place has expired.
    await recordAnswers(operator, 'ivo', { [letter]: ['accepted'] }, { validity: 'P10Y' });
    await recordAnswers(operator, 'ivo', { [letter]: ['refused'] }, { validity: 'P1M' });

    const before = await recordsOf(operator, 'hope');
    const daysOf = (key: string) => {
      const { creationTimestamp = 0, expirationTimestamp = 0 } = before[key]?.[0] ?? {};
      return (expirationTimestamp - creationTimestamp) / (24 * 60 * 60 * 1000);
    };
    expect([28, 29, 30, 31]).toContain(daysOf('processing.001'));
    expect([181, 182, 183, 184]).toContain(daysOf('preference.003'));
    expect(before['conditions.001']?.[0]).not.toHaveProperty('expirationTimestamp');

    await letTimePass(instance, '5 weeks');
    expect(await statusesOf('hope', 'processing.001')).toEqual(['EXPIRED EXPIRED']);
    expect(await statusesOf('hope', 'preference.003')).toEqual(['VALID LATEST_VALID']);
    expect(await statusesOf('ivo', 'processing.001')).toEqual(['EXPIRED EXPIRED', 'OBSOLETE OBSOLETE']);
    await letTimePass(instance, '7 months');
    expect(await statusesOf('hope', 'preference.003')).toEqual(['EXPIRED EXPIRED']);
    expect(await statusesOf('hope', 'conditions.001')).toEqual(['VALID LATEST_VALID']);
    await letTimePass(instance, '0');
    expect(await statusesOf('hope', 'processing.001')).toEqual(['VALID LATEST_VALID']);
  });
});
