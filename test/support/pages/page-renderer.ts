import { createAssets } from '../../../services/forms/pages/assets.ts';
import { createPageRenderer } from '../../../services/forms/pages/page-renderer.ts';

/** The product's renderer and assets, without a service around them. */
export const assets = createAssets();
export const renderer = createPageRenderer(assets);
