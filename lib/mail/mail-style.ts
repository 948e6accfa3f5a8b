const sans =
  "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans','Noto Sans Arabic',Arial,sans-serif";
const mono = "ui-monospace,'SF Mono',Menlo,Consolas,'Liberation Mono',monospace";
const ink = 'color:#1d1f20';
const soft = 'color:#595d60';
const accent = 'color:#0b6b75';

/**
 * Inline styles of a mail: the only ones that every mail client applies. Each text has its own colour and
 * background, so that it stays readable where a client changes one of them.
 * @param dir Arabic is larger and has more space between its lines.
 */
export function mailStyles(dir: 'ltr' | 'rtl') {
  const text =
    dir === 'rtl'
      ? `font-family:${sans};font-size:17px;line-height:1.8`
      : `font-family:${sans};font-size:16px;line-height:1.6`;
  const small = dir === 'rtl' ? 'font-size:15px;line-height:1.8' : 'font-size:14px;line-height:1.55';
  const side = dir === 'rtl' ? 'right' : 'left';
  const block = `margin:0 0 16px;${text};${ink}`;
  const heading = `margin:24px 0 8px;font-family:${sans};font-weight:600;line-height:1.35;${ink}`;
  return {
    body: 'margin:0;padding:0;background-color:#f6f6f3;-webkit-text-size-adjust:100%;text-size-adjust:100%',
    page: 'background-color:#f6f6f3',
    margin: 'padding:24px 12px',
    column: `width:100%;max-width:600px;text-align:${side}`,
    sender: `padding:0 12px 14px;font-family:${sans};font-size:15px;line-height:1.4;font-weight:600;${soft};overflow-wrap:anywhere`,
    card: `padding:32px 24px 16px;background-color:#ffffff;border:1px solid #dfdfda;border-radius:10px;overflow-wrap:anywhere;${text};${ink}`,
    title: `margin:0 0 16px;text-wrap:balance;font-family:${sans};font-size:24px;line-height:${dir === 'rtl' ? 1.5 : 1.25};font-weight:600;${ink}`,
    hint: `margin:0 0 16px;font-family:${sans};${small};${soft}`,
    code: `padding:16px 6px 16px 12px;background-color:#eef6f6;border-radius:8px;text-align:center;font-family:${mono};font-size:32px;line-height:1.3;font-weight:600;letter-spacing:6px;${ink}`,
    button: `background-color:#0b6b75;border-radius:8px`,
    buttonLink: `display:inline-block;text-align:center;padding:13px 24px;font-family:${sans};font-size:16px;line-height:1.4;font-weight:600;color:#ffffff;text-decoration:none;border-radius:8px`,
    address: `display:block;padding:4px 0;text-align:left;${accent};text-decoration:underline;word-break:break-all`,
    footer: `padding:16px 12px 0;overflow-wrap:anywhere;font-family:${sans};${small};${soft}`,
    space: 'height:24px;line-height:24px;font-size:1px',
    tags: {
      p: block,
      ul: `margin:0 0 16px;padding:0;padding-${side}:24px;${text};${ink}`,
      ol: `margin:0 0 16px;padding:0;padding-${side}:24px;${text};${ink}`,
      li: 'margin:0 0 6px',
      dl: block,
      dt: 'font-weight:600',
      dd: 'margin:0 0 8px',
      blockquote: `margin:0 0 16px;padding:0;padding-${side}:16px;border-${side}:3px solid #dfdfda;${text};${ink}`,
      pre: `margin:0 0 16px;white-space:pre-wrap;font-family:${mono};font-size:14px;line-height:1.5;${ink}`,
      code: `font-family:${mono};font-size:14px`,
      hr: 'margin:24px 0;border:0;border-top:1px solid #dfdfda',
      table: `margin:0 0 16px;border-collapse:collapse;${text};${ink}`,
      th: `padding:6px 12px 6px 0;text-align:${side};font-weight:600`,
      td: 'padding:6px 12px 6px 0;vertical-align:top',
      h2: `${heading};font-size:19px`,
      h3: `${heading};font-size:18px`,
      h4: `${heading};font-size:17px`,
      h5: `${heading};font-size:16px`,
      h6: `${heading};font-size:16px`,
      a: `${accent};text-decoration:underline;overflow-wrap:anywhere;padding:3px 0`,
    } as Record<string, string>,
  };
}
