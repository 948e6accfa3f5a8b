import type { ElementHandle, Locator, Page } from 'playwright-core';

/** What a person works a page with. Each call acts on one control, as the device alone can. */
export interface InputDevice {
  /** Activates a link or a button. */
  press(target: Locator): Promise<void>;
  /** Activates a link or a button that opens a page, and waits for that page. */
  open(target: Locator): Promise<void>;
  /** Ticks a checkbox, or chooses a radio button. */
  tick(target: Locator): Promise<void>;
  /** Chooses an option of a list by its words. */
  choose(list: Locator, option: string): Promise<void>;
  /** Types or pastes into an empty field. */
  type(field: Locator, text: string): Promise<void>;
}

/** Links and controls of one page; more than a page of the console has. */
const maxStops = 150;

/** A mouse; texts are typed after a click into their field. */
export function createMouse(page: Page): InputDevice {
  const press = (target: Locator) => target.click();
  return {
    press,
    open: (target) => opened(page, () => press(target)),
    tick: (target) => target.click(),
    // The browser draws the list outside the page, where a test has no mouse.
    choose: async (list, option) => void (await list.selectOption({ label: option })),
    async type(field, text) {
      await field.click();
      await page.keyboard.insertText(text);
    },
  };
}

/**
 * A keyboard without any other device. The focus is moved by Tab, Shift+Tab and arrows alone; each control on
 * its way must show that it has the focus.
 */
export function createKeyboard(page: Page): InputDevice {
  const key = (name: string) => page.keyboard.press(name);

  /** @throws Error if the control is not reached, or if a control on the way does not show its focus. */
  async function reach(target: Locator): Promise<ElementHandle> {
    const element = await target.elementHandle();
    if (!element) throw new Error(`there is no ${target}`);
    for (let stops = 0; stops < maxStops; stops += 1) {
      const { way, fault } = await wayFromFocus(element);
      if (fault) throw new Error(`the focus is not visible: ${fault}`);
      if (way === 'here') return element;
      await key(way === 'back' ? 'Shift+Tab' : 'Tab');
    }
    throw new Error(`the keyboard does not reach ${target}`);
  }

  async function press(target: Locator): Promise<void> {
    const element = await reach(target);
    await key((await element.evaluate(({ localName }) => localName)) === 'button' ? 'Space' : 'Enter');
  }
  return {
    press,
    open: (target) => opened(page, () => press(target)),
    async tick(target) {
      const element = await reach(target);
      // Of radio buttons, Tab reaches one of a group; arrows lead to the others.
      const hasFocus = () => element.evaluate((each) => each.ownerDocument.activeElement === each);
      for (let moves = 0; !(await hasFocus()); moves += 1) {
        if (moves === maxStops) throw new Error(`no arrow leads to ${target}`);
        await key('ArrowDown');
      }
      if (!(await target.isChecked())) await key('Space');
    },
    async choose(list, option) {
      const element = await reach(list);
      const chosen = () => element.evaluate(({ selectedOptions: [each] }) => each.label);
      for (let before = ''; (await chosen()) !== option; ) {
        before = await chosen();
        await key('ArrowDown');
        if ((await chosen()) === before) throw new Error(`the list has no option ${option}`);
      }
    },
    async type(field, text) {
      await reach(field);
      await page.keyboard.insertText(text);
    },
  };
}

/** Waits for the page that an act opens, also by way of redirects. */
async function opened(page: Page, act: () => Promise<void>): Promise<void> {
  await Promise.all([page.waitForEvent('domcontentloaded'), act()]);
}

/**
 * The direction from the focused control to `element`, and why the focus on `element` would not be visible.
 * The document of a frame shows its focus itself.
 */
function wayFromFocus(element: ElementHandle): Promise<{ way: 'here' | 'back' | 'on'; fault: string }> {
  return element.evaluate(async (target) => {
    const { body, defaultView } = target.ownerDocument;
    const hasNoFocus = () => [null, body].includes(target.ownerDocument.activeElement);
    // A browser moves the focus to the page's autofocus element right before it draws the first frame.
    if (hasNoFocus()) await new Promise(defaultView.requestAnimationFrame);
    if (hasNoFocus()) return { way: 'on', fault: '' };
    const at = target.ownerDocument.activeElement;
    const isInGroup = target.type === 'radio' && at.type === 'radio' && at.name === target.name;
    const isBefore = at.compareDocumentPosition(target) & at.DOCUMENT_POSITION_PRECEDING;
    const way = at === target || isInGroup ? 'here' : isBefore ? 'back' : 'on';
    if (at.localName === 'iframe' || at.tabIndex < 0) return { way, fault: '' };
    const { outlineStyle, outlineWidth } = defaultView.getComputedStyle(at);
    const hasOutline = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
    const { left, top, width, height } = at.getBoundingClientRect();
    const middle = at.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
    const isSeen = middle && (at.contains(middle) || middle.contains(at));
    const fault = !hasOutline ? 'has no outline' : !isSeen ? 'is covered or outside the window' : '';
    return { way, fault: fault && `${at.outerHTML.slice(0, 200)} ${fault}` };
  });
}
