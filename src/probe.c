/* SPDX-License-Identifier: MIT */
/* Trying every writer and core sync, for `dormant doctor`. */
#include <dormant/probe.h>

#include "patch.h"
#include "sync.h"
#include "text.h"

size_t dormant_probe_all(struct dormant_probe *probes, size_t max)
{
	const struct sync_way *sync;
	const struct text_writer *writer;
	struct patch patch;
	size_t n = 0;

	patch_begin(&patch, NULL);
	(void)sync_start();
	(void)text_start();
	sync = sync_chosen();
	writer = text_chosen();
	for (size_t i = 0; i < text_writers_count; i++, n++) {
		if (n < max)
			probes[n] = (struct dormant_probe){
				DORMANT_PROBE_WRITER,      text_writers[i]->name,
				text_try(text_writers[i]), text_writers[i] == writer,
				text_writers[i]->leaves,   text_writers[i]->whole};
	}
	for (size_t i = 0; i < sync_ways_count; i++, n++) {
		if (n < max)
			probes[n] = (struct dormant_probe){
				DORMANT_PROBE_SYNC,   sync_ways[i]->name,   sync_ways[i]->run(),
				sync_ways[i] == sync, sync_ways[i]->leaves, 0};
	}
	patch_end(&patch);
	return n;
}
