import type { VerifyPage } from '#lib/contracts/pages.ts';
import type { Reader } from '#lib/pages/reader.ts';
import type { Drawn } from './page-model.ts';

/** The page that tells whether a receipt is genuine. */
export function verifyView({ outcome, instance }: Drawn<VerifyPage>, reader: Reader) {
  const { t } = reader;
  const values = { instance: instance.name };
  return {
    title: outcome ? t(`verify.${outcome}`) : t('verify.title'),
    text: outcome ? t(`verify.${outcome}Text`, values) : t('verify.text', values),
    isGenuine: outcome === 'genuine',
  };
}
