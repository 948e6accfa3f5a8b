import { sanitiseRichText } from '../../../services/forms/domain/sanitise-rich-text.ts';
import { createAssets } from '../../../services/forms/pages/assets.ts';
import { createPageRenderer } from '../../../services/forms/pages/create-page-renderer.ts';

/** The product's renderer and assets, without a service around them. */
export const assets = createAssets();
export const renderer = createPageRenderer({ assets, sanitiseRichText });
