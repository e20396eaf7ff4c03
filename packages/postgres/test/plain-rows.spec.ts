import { readsRows } from './plain-rows.js';

readsRows();
