import { ApiFailure } from '../api/api-failure.ts';

/** The types of images that the API takes as a logo, as in HTML. */
export const logoTypes = 'image/png,image/jpeg,image/webp';

/** Faults at the field `logo`: the API names no field, because the upload is the whole body. */
export function atLogo(failure: ApiFailure): ApiFailure {
  if (failure.status === 413) return logoFault(413, 'too-large-logo');
  const isOther = failure.status === 415 || (failure.status === 422 && failure.errors.length === 0);
  return isOther ? logoFault(failure.status, 'no-logo') : failure;
}

export function logoFault(status: number, code: string): ApiFailure {
  return new ApiFailure(status, { errors: [{ pointer: '/logo', code, detail: '' }] });
}
