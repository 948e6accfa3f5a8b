import type { Context } from 'koa';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { Failure } from '#lib/errors/fail.ts';
import type { Assets } from '#lib/http/assets.ts';
import { problemStatus } from '#lib/http/problem.ts';
import { sendPage } from '#lib/http/send.ts';
import { loadTemplates } from '#lib/pages/load-templates.ts';
import type { ConsoleReader } from './console-reader.ts';
import { sendFrame } from './frame.ts';
import { consolePath } from './navigation.ts';
import { colorsOf } from './preferences.ts';

/** Pages that belong to no room. */
export interface OutsidePages {
  /** Says that the person has signed out. */
  sendSignedOut(ctx: Context): Promise<void>;
  /** Asks a person who is signed in whether to answer a form. @param name of the person. */
  sendAnswer(ctx: Context, name: string): Promise<void>;
  /** Says in a frame that the session has ended (401): the page around it can sign in, the frame cannot. */
  sendEndedFrame(ctx: Context): void;
  /** The page of a failed request, such as a sign-in that the issuer refused. */
  renderFailure(ctx: Context, failure: Failure): Promise<{ html: string }>;
}

interface Parts {
  instance: Pick<PageInstance, 'name' | 'logo'>;
  /** CONSOLE_ACCENT. */
  accent: string;
  assets: Assets;
  reader: (ctx: Context) => ConsoleReader;
}

/** Loads the template of these pages. */
export function loadOutsideTemplates() {
  return loadTemplates(new URL('views/', import.meta.url), ['outside', 'answer', 'framed']);
}

export function createOutsidePages({ instance, accent, assets, reader: readerOf }: Parts): OutsidePages {
  const { outside, answer, framed } = loadOutsideTemplates();
  function render(
    ctx: Context,
    words: (reader: ConsoleReader) => { title: string; text: string; detail: string },
    template = outside,
  ) {
    const reader = readerOf(ctx);
    const paths = { home: consolePath, signOut: `${consolePath}/sign-out` };
    const shared = {
      reader,
      t: reader.t,
      asset: assets.url,
      colors: colorsOf(ctx),
      instance,
      accent,
      paths,
      links: [],
      madeCalls: [],
      calls: [],
      done: '',
    };
    return template({ ...shared, ...words(reader) });
  }
  return {
    async sendSignedOut(ctx) {
      const html = render(ctx, ({ t }) => ({
        title: t('outside.signedOut'),
        text: t('outside.bye'),
        detail: '',
      }));
      sendPage(ctx, html, { status: 200 });
    },
    async sendAnswer(ctx, name) {
      const words = ({ t }: ConsoleReader) => ({
        title: t('answer.title', { name }),
        text: t('answer.text'),
        detail: '',
      });
      sendPage(ctx, render(ctx, words, answer), { status: 200 });
    },
    sendEndedFrame(ctx) {
      const words = ({ t }: ConsoleReader) => ({
        title: t('failure.unauthorized'),
        text: t('idle.ended'),
        detail: '',
      });
      sendFrame(ctx, { html: render(ctx, words, framed), status: 401 });
    },
    async renderFailure(ctx, failure) {
      const { status } = problemStatus[failure.code];
      const group =
        status >= 500 ? 'unavailable' : status === 403 || status === 404 ? failure.code : 'refused';
      const html = render(ctx, ({ t }) => ({
        title: t(`outside.${group}`),
        text: t(`outside.${group}Text`),
        detail: failure.message,
      }));
      return { html };
    },
  };
}
