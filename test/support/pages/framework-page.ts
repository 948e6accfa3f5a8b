import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import ts from 'typescript';
import { compileScript, parse } from 'vue/compiler-sfc';

const require = createRequire(import.meta.url);
const project = path.join(import.meta.dirname, '..', '..', '..');
const folderOf = (name: string, from = require) => path.dirname(from.resolve(`${name}/package.json`));
const read = (...parts: string[]) => readFileSync(path.join(...parts), 'utf8');

/** The first example of a language in docs/embedding.md. */
function example(language: string): string {
  const found = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(
    read(project, 'docs', 'embedding.md'),
  );
  if (!found?.[1]) throw new Error(`docs/embedding.md has no example in ${language}`);
  return found[1];
}

function toCommonJs(source: string): string {
  const { module, target, jsx } = {
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2022,
    jsx: ts.JsxEmit.ReactJSX,
  };
  return ts.transpileModule(source, { compilerOptions: { module, target, jsx }, fileName: 'module.tsx' })
    .outputText;
}

/** Single-file component to CommonJS. */
function compileVue(source: string, id: string): string {
  const { descriptor } = parse(source);
  return toCommonJs(compileScript(descriptor, { id, inlineTemplate: true }).content);
}

/** A script element with modules by name and the source of the one that starts. */
function script(modules: Record<string, string>, start: string): string {
  const defined = Object.entries({
    ...modules,
    'accord-embed': toCommonJs(read(project, 'services', 'forms', 'embed', 'embed.js')),
  }).map(
    ([name, source]) => `modules[${JSON.stringify(name)}] = (module, exports, require) => {${source}\n};`,
  );
  return `<script>
    window.process = { env: {} }; const modules = {}, loaded = {};
    const require = (name) => {
      if (!loaded[name]) modules[name](loaded[name] = { exports: {} }, loaded[name].exports, require);
      return loaded[name].exports;
    };
    ${[...defined, `{${start}}`].join('\n').replaceAll('</script', '<\\/script')}
  </script>`;
}

/**
 * A body whose component of docs/embedding.md is mounted in StrictMode, which mounts it twice. `unmount()`
 * takes it away.
 */
export function reactBody(url: string): string {
  const react = folderOf('react');
  const dom = folderOf('react-dom');
  const scheduler = folderOf('scheduler', createRequire(path.join(dom, 'index.js')));
  const modules = {
    react: read(react, 'cjs', 'react.development.js'),
    'react/jsx-runtime': read(react, 'cjs', 'react-jsx-runtime.development.js'),
    'react-dom': read(dom, 'cjs', 'react-dom.development.js'),
    'react-dom/client': read(dom, 'cjs', 'react-dom-client.development.js'),
    scheduler: read(scheduler, 'cjs', 'scheduler.development.js'),
    consent: toCommonJs(example('jsx')),
  };
  const start = toCommonJs(`
    import { StrictMode } from 'react';
    import { createRoot } from 'react-dom/client';
    import { Consent } from 'consent';
    const root = createRoot(document.querySelector('#app'));
    window.heard = [];
    const onEvent = (event) => heard.push(event.type);
    root.render(<StrictMode><Consent url=${JSON.stringify(url)} onEvent={onEvent} /></StrictMode>);
    window.unmount = () => root.unmount();`);
  return `<div id="app"></div>${script(modules, `const exports = {}; ${start}`)}`;
}

/** A body whose component of docs/embedding.md is mounted by another one. */
export function vueBody(url: string): string {
  const parent = `<script setup>
    import Consent from 'consent';
    const url = ${JSON.stringify(url)};
    window.heard = [];
    const thank = (event) => heard.push(event.type);
  </script>
  <template><Consent :url="url" @accord:ready="thank" @accord:committed="thank" /></template>`;
  const modules = {
    vue: `${read(folderOf('vue'), 'dist', 'vue.runtime.global.js')}\nmodule.exports = Vue;`,
    consent: compileVue(example('vue'), 'consent'),
    parent: compileVue(parent, 'parent'),
  };
  const start = `const app = require('vue').createApp(require('parent').default);
    app.mount('#app'); window.unmount = () => app.unmount();`;
  return `<div id="app"></div>${script(modules, start)}`;
}
