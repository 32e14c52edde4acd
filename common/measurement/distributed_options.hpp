// The words that programs take for how supernodes are dealt to PEs, and how values go between these.
#pragma once

#include "common/command_line/arguments.hpp"
#include "sptrsv/distributed.hpp"

namespace sptrsv_common {

inline const choices<sptrsv::supernode_dealing>& dealing_names() {
  static const choices<sptrsv::supernode_dealing> names{{"subtrees", sptrsv::supernode_dealing::subtrees},
                                                        {"top", sptrsv::supernode_dealing::top},
                                                        {"cyclic", sptrsv::supernode_dealing::cyclic},
                                                        {"grid", sptrsv::supernode_dealing::grid}};
  return names;
}

inline const choices<sptrsv::pe_tree>& tree_names() {
  static const choices<sptrsv::pe_tree> names{{"automatic", sptrsv::pe_tree::automatic},
                                              {"flat", sptrsv::pe_tree::flat},
                                              {"binary", sptrsv::pe_tree::binary}};
  return names;
}

inline const choices<sptrsv::pe_transport>& transport_names() {
  static const choices<sptrsv::pe_transport> names{{"automatic", sptrsv::pe_transport::automatic},
                                                   {"direct", sptrsv::pe_transport::direct},
                                                   {"puts", sptrsv::pe_transport::puts},
                                                   {"waiting_blocks", sptrsv::pe_transport::waiting_blocks}};
  return names;
}

}  // namespace sptrsv_common
