import { legalBases, purposes } from '#lib/contracts/element-rules.ts';
import type { FormLabels } from '#lib/contracts/form-content.ts';
import type { Reader } from '#lib/pages/reader.ts';
import { type FormView, formView } from './form-view.ts';
import type { FormModel } from './page-model.ts';
import { faultCodes, type QuestionView } from './question-view.ts';
import type { RichBlocks } from './rich-blocks.ts';

const headings = {
  data: 'processing.data',
  retention: 'processing.retention',
  purposes: 'processing.purposes',
  legalBases: 'processing.legalBases',
  thirdParties: 'processing.thirdParties',
  dataController: 'processing.controller',
  scope: 'form.scope',
  jurisdiction: 'form.jurisdiction',
  dataProtectionOfficer: 'form.officer',
  supervisoryAuthority: 'form.authority',
  address: 'contact.address',
  email: 'contact.email',
  phoneNumber: 'contact.phone',
  details: 'processing.details',
  questions: 'form.questions',
  bulk: 'form.bulkHint',
};

const phrases = {
  containsSensitiveData: 'processing.sensitive',
  containsMedicalData: 'processing.medical',
  noThirdParties: 'processing.noThirdParties',
  shortNoticeLink: 'form.shortNotice',
  privacyPolicyUrl: 'form.privacyPolicy',
  opensNewTab: 'form.opensNewTab',
  choose: 'preference.choose',
  noAnswer: 'answer.none',
  unchanged: 'answer.unchanged',
  changed: 'form.changed',
  signer: 'form.signer',
  signedOn: 'form.signedOn',
  signature: 'form.signature',
};

/** The texts of the form page around its content, for clients that render the form themselves. */
export function formLabels(page: FormModel, reader: Reader, rich: RichBlocks): FormLabels {
  const { t } = reader;
  const view = formView(page, reader, rich);
  const questions = [...view.columns.flat(), ...view.owners.flatMap((owner) => owner.questions)];
  return {
    ...fixedLabels(reader),
    submit: view.submitText,
    refuseAll: view.refuseAllText,
    ...(page.form.layout.acceptAllVisible && { acceptAll: view.acceptAllText }),
    ...(view.cancel && {
      cancel: view.cancelText,
      cancelQuestion: {
        title: t('cancel.title'),
        text: t('cancel.text'),
        keep: t('cancel.keep'),
        discard: t('cancel.discard'),
      },
    }),
    rights: { title: t('form.rights'), ...view.rights },
    ...(view.validity && { validity: view.validity }),
    ...(view.expires && { expires: view.expires }),
    elements: Object.fromEntries(
      questions.map((question) => [question.name, elementLabels(question, reader)]),
    ),
    peers: Object.fromEntries(
      view.owners.map((owner, index) => [
        page.form.peers[index]?.location ?? '',
        peerLabels(owner, page.instance.name, reader),
      ]),
    ),
  };
}

/** Labels that depend only on the language. */
function fixedLabels({ language, t }: Reader) {
  const wordsOf = (group: string, codes: readonly string[]) =>
    Object.fromEntries(codes.map((code) => [code, t(`${group}.${code}`)]));
  const textsOf = (keys: Record<string, string>) =>
    Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, t(key)]));
  return {
    lang: language,
    accept: t('processing.accept'),
    refuse: t('processing.refuse'),
    refuseAll: t('form.refuseAll'),
    optional: t('form.optional'),
    purposes: wordsOf('purpose', purposes),
    legalBases: wordsOf('legalBasis', legalBases),
    headings: textsOf(headings),
    words: textsOf(phrases),
    faults: wordsOf('fault', ['required', ...faultCodes, 'other']),
  };
}

/** Preferences need no labels for their answers: their options are texts. */
function elementLabels(
  { type, options, hint, facts, note, validity, control }: QuestionView,
  { t }: Reader,
): FormLabels['elements'][string] {
  return {
    ...(type !== 'preference' && {
      answers: Object.fromEntries(
        options.filter(({ value }) => value !== '').map(({ value, label }) => [value, label]),
      ),
      ...(control === 'objection' && {
        answers: { accepted: t('answer.noObjection'), refused: t('objection.object') },
      }),
    }),
    ...(hint && { hint }),
    ...(facts?.retention && { retention: facts.retention }),
    ...(note && { previous: note }),
    ...(validity && { validity }),
  };
}

function peerLabels(
  { owner, asOf }: FormView['owners'][number],
  instance: string,
  { t }: Reader,
): FormLabels['peers'][string] {
  return {
    title: t('form.peer', { owner }),
    note: t('form.peerNote', { owner, instance }),
    ...(asOf && { asOf: t('form.peerAsOf', { owner, date: asOf }) }),
  };
}
