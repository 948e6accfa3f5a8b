import { line, objectOf, required, rich } from './fields.ts';

export const readEmail = objectOf({
  sender: line(320),
  subject: required(line(255)),
  title: line(),
  body: required(rich),
  buttonLabel: line(120),
  footer: rich,
  signature: rich,
});
