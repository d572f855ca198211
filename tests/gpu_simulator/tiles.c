// What a program sees of cards with several tiles, by the two environment variables of Intel's driver:
// ZE_FLAT_DEVICE_HIERARCHY (COMPOSITE: cards, which clCreateSubDevices divides; FLAT, COMBINED: tiles, as devices of their
// own) and ZE_AFFINITY_MASK (which of them there are). It rests on the driver's public source: execution_environment.cpp
// (the mask), device.cpp (which tiles are devices), api.cpp (what is listed, how a card is divided), cl_device.cpp (who has
// a parent). Unset, the first card decides: cards of pvc's family are FLAT.
//
// The driver reads them once in a process; here they are read whenever devices are listed.
#include "simulator.h"
#include <stdlib.h>
#include <string.h>

enum Hierarchy { COMPOSITE, FLAT, COMBINED };

static enum Hierarchy hierarchy_of(const char *text) {
    const char *names[] = {"COMPOSITE", "FLAT", "COMBINED"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) return (enum Hierarchy)i;
    return FLAT;
}

static unsigned all_tiles(unsigned card) { return (1u << cards[card]->tiles) - 1; }

// enabled: for each card, the tiles that the mask names
static void read_mask(const char *mask, enum Hierarchy hierarchy, unsigned *enabled) {
    unsigned card_count = 0, places[MOST_DEVICES][2], place_count = 0;
    for (; cards[card_count]; card_count++)
        for (unsigned tile = 0; tile < cards[card_count]->tiles; tile++)
            places[place_count][0] = card_count, places[place_count++][1] = tile;
    char *text = strdup(mask), *rest = NULL;
    for (char *entry = strtok_r(text, ",", &rest); entry; entry = strtok_r(NULL, ",", &rest)) {
        char *dot = strchr(entry, '.');
        unsigned index = (unsigned)strtoul(entry, NULL, 10);
        if (hierarchy != COMPOSITE) {
            // numbers count tiles; what has a dot is not understood
            if (index < place_count && !dot) enabled[places[index][0]] |= 1u << places[index][1];
        } else if (index < card_count && !dot) {
            enabled[index] |= all_tiles(index);
        } else if (index < card_count) {
            unsigned tile = (unsigned)strtoul(dot + 1, NULL, 10);
            if (strchr(dot + 1, '.')) violation("ZE_AFFINITY_MASK=%s: the driver ends the process at %s", mask, entry);
            if (tile < cards[index]->tiles) enabled[index] |= 1u << tile;
        }
    }
    free(text);
}

static cl_device_id device_of(unsigned card, unsigned tiles) {
    cl_device_id device = new_object(DEVICE, sizeof *device);
    device->model = cards[card], device->number = card, device->tiles = tiles;
    return device;
}

static void list_card(struct Listing *listing, enum Hierarchy hierarchy, unsigned card, unsigned tiles) {
    cl_device_id whole = device_of(card, tiles);
    unsigned count = (unsigned)__builtin_popcount(tiles);
    if (count > 1 || (hierarchy == COMBINED && cards[card]->tiles > 1))
        for (unsigned tile = 0; tile < cards[card]->tiles; tile++)
            if (tiles & 1u << tile) {
                cl_device_id part = whole->parts[whole->part_count++] = device_of(card, 1u << tile);
                part->is_tile = true, part->parent = hierarchy == COMPOSITE ? whole : NULL;
            }
    if (hierarchy == COMPOSITE || !whole->part_count)
        listing->devices[listing->count++] = whole;
    else
        for (unsigned i = 0; i < whole->part_count; i++) listing->devices[listing->count++] = whole->parts[i];
}

const struct Listing *listed(void) {
    ENTER;
    static struct Listing *known;
    const char *hierarchy = getenv("ZE_FLAT_DEVICE_HIERARCHY"), *mask = getenv("ZE_AFFINITY_MASK");
    hierarchy = hierarchy ? hierarchy : "", mask = mask ? mask : "";
    for (struct Listing *one = known; one; one = one->next)
        if (!strcmp(one->hierarchy, hierarchy) && !strcmp(one->mask, mask)) return one;
    struct Listing *listing = calloc(1, sizeof *listing);
    listing->hierarchy = strdup(hierarchy), listing->mask = strdup(mask), listing->next = known;
    bool masked = *mask && strcmp(mask, "default");
    unsigned enabled[MOST_DEVICES] = {0};
    if (masked) read_mask(mask, hierarchy_of(hierarchy), enabled);
    for (unsigned card = 0; cards[card]; card++) {
        unsigned tiles = masked ? enabled[card] : all_tiles(card);
        if (tiles) list_card(listing, hierarchy_of(hierarchy), card, tiles);
    }
    return known = listing;
}

cl_ulong memory_of(cl_device_id device) {
    return device->model->memory_bytes * (cl_ulong)__builtin_popcount(device->tiles);
}

VISIBLE cl_int clCreateSubDevices(cl_device_id device, const cl_device_partition_property *properties, cl_uint room,
                                  cl_device_id *to, cl_uint *count) {
    ENTER;
    if (!ALIVE(device, DEVICE)) return CL_INVALID_DEVICE;
    if (device->part_count <= 1) return CL_DEVICE_PARTITION_FAILED;
    if (!properties || properties[0] != CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN || properties[2] ||
        (properties[1] != CL_DEVICE_AFFINITY_DOMAIN_NUMA &&
         properties[1] != CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE))
        return CL_INVALID_VALUE;
    if (count) *count = device->part_count;
    if (to && room < device->part_count) return CL_INVALID_VALUE;
    for (unsigned i = 0; to && i < device->part_count; i++) to[i] = device->parts[i];
    return CL_SUCCESS;
}
