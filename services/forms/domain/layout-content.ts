/** Options of a layout with their defaults (docs/interface.md, "The consent context"). */
export interface LayoutOptions {
  orientation: 'VERTICAL' | 'HORIZONTAL';
  existingElementsVisible: boolean;
  validityVisible: boolean;
  acceptAllVisible: boolean;
  cancelVisible: boolean;
  footerOnTop: boolean;
  includeIFrameResizer: boolean;
}

/** A layout as it was written, checked and with every default filled in; what it names is not looked up yet. */
export interface LayoutContent extends LayoutOptions {
  type: 'layout';
  info?: string;
  /** Element keys in order. */
  elements: string[];
  theme?: string;
  notification?: string;
  acceptAllText?: string;
  submitText?: string;
  cancelText?: string;
  /** It came as `blocs` (docs/interface.md). */
  blocs?: boolean;
}

/** Members that differ between the languages of a layout; all others are its structure. */
export const layoutTexts = ['acceptAllText', 'submitText', 'cancelText'] as const;
