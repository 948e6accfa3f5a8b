import { flag, line, objectOf, required, rich } from './fields.ts';

export const readConditions = objectOf({
  title: required(line()),
  body: required(rich),
  acceptLabel: line(120),
  rejectLabel: line(120),
  refusable: flag,
});
