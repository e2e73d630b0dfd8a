import { mount } from 'svelte';
import App from './App.svelte';
import { Store } from './store.svelte.ts';

const store = new Store();
mount(App, { target: document.body, props: { store } });
store.open();
