import { flag, line, lines, objectOf, required, rich, url } from './fields.ts';

/** Who answers for the data; also part of processing. */
export const dataController = objectOf({
  company: line(),
  info: lines,
  address: lines,
  email: line(320),
  phoneNumber: line(64),
});

export const readInformation = objectOf({
  title: required(line()),
  header: rich,
  footer: rich,
  jurisdiction: line(),
  dataController,
  scope: lines,
  shortNoticeLink: url,
  privacyPolicyUrl: url,
  customPrivacyPolicyText: line(),
  jurisdictionVisible: flag,
  dataControllerVisible: flag,
  scopeVisible: flag,
  shortNoticeLinkVisible: flag,
});
